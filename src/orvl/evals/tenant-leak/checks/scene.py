"""What a case has: the server, the workshops, and whoever has logged in."""

from orvl import checks

from served import Hopeless, Server, Somebody, Wrong, log_in
from world import World


class Scene:
    def __init__(self):
        self.random = checks.random()
        self.world = World(self.random)
        self.shops = self.world.shops
        self.server = Server(self.world, "d-" + "".join(self.random.choices("abcdefgh", k=8)))
        self.drawn = checks.drawn()
        self._people = {}

    def person(self, row):
        """Somebody of a team, or of support, with a session."""
        if row["id"] not in self._people:
            found = log_in(self.server, row["email"], row["password"])
            if found is None:
                raise Wrong(f"{row['email']} cannot log in")
            self._people[row["id"]] = found
        return self._people[row["id"]]

    def has_new_password(self, row, password):
        """Their sessions have ended."""
        row["password"] = password
        self._people.pop(row["id"], None)

    def owner(self, shop):
        return self.person(shop.owner)

    def mechanic(self, shop):
        return self.person(shop.mechanic)

    def support(self):
        """A session of its own each time, outside of all workshops."""
        return self.new_session(self.world.support)

    def new_session(self, row):
        found = log_in(self.server, row["email"], row["password"])
        if found is None:
            raise Wrong(f"{row['email']} cannot log in")
        return found

    def program(self, shop):
        return Somebody(self.server, "a program", [("Authorization", f"Bearer {shop.token}")])

    def till(self, shop):
        return Somebody(self.server, "a till", [("X-Api-Key", shop.token)])

    def nobody(self):
        return Somebody(self.server, "nobody")

    def pair(self):
        """Two workshops: one that must not, and one that is not seen."""
        return self.random.sample(self.shops, 2)

    def others(self, shop):
        return [other for other in self.shops if other is not shop]

    def tags(self, shop):
        """What nobody of this workshop must see."""
        return [other.tag for other in self.others(shop)]

    # -- the state, seen by those that it belongs to

    def invoice(self, shop, invoice):
        return self.program(shop).json(f"/api/v2/invoices/{invoice['id']}")

    def job(self, shop, job):
        return self.program(shop).json(f"/api/v2/jobs/{job['id']}")

    def vehicles(self, shop, customer_id):
        return self.program(shop).json(f"/api/v2/customers/{customer_id}/vehicles")

    def files(self, shop):
        return self.owner(shop).json("/files.json")

    def audit(self, shop):
        found = self.program(shop).json("/api/v2/audit")
        entries = found.get("entries") if isinstance(found, dict) else None
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise Wrong(f"/api/v2/audit: expected a list of entries, saw {found!r}"[:300])
        return entries


__all__ = ["Hopeless", "Scene", "Wrong"]
