"""Two workshops to look around in. Made up; whoever finds themselves in here: it is a coincidence."""

import random

from gearbook import clock

OWNER = "owner@kettenwerk.example"
PASSWORD = "kettenwerk"
NAMES = ("Anna Brandt", "Ben Okafor", "Clara Vogel", "Dilan Aksoy", "Emil Larsen", "Fritzi Roth", "Goran Ilic")
MODELS = ("Diamant 019", "Brompton C", "Golf III", "Hilux", "Vespa PX", "Cargo 40", "Kadett C")
WORK = ("New chain", "Brakes", "Inspection", "Wheel trued", "Oil", "Light does not work", "Gear cable", "Rust")
PARTS = (("CH-8", "Chain, 8 gears"), ("BP-2", "Brake pads"), ("OIL-5", "Oil, 5 l"), ("TUBE-28", "Tube 28 in"))


def made_up(number):
    """A fixture; the same one for the same number."""
    dice = random.Random(number)
    data = {name: [] for name in ("workshops", "users", "customers", "vehicles", "jobs", "parts")}
    ids = iter(range(100, 100_000, 3))
    for slug, name in (("kettenwerk", "Kettenwerk"), ("oelfleck", "Garage Ölfleck")):
        _workshop(data, dice, ids, slug, name)
    data["users"].append(
        {
            "id": next(ids),
            "workshop_id": None,
            "email": "support@gearbook.example",
            "name": "Support",
            "role": "support",
            "password": PASSWORD,
        }
    )
    return data


def _workshop(data, dice, ids, slug, name):
    workshop_id = next(ids)
    data["workshops"].append({"id": workshop_id, "slug": slug, "name": name})
    own = {"workshop_id": workshop_id}
    for role in ("owner", "mechanic"):
        data["users"].append(
            {
                **own,
                "id": next(ids),
                "email": f"{role}@{slug}.example",
                "name": dice.choice(NAMES),
                "role": role,
                "password": PASSWORD,
            }
        )
    for sku, title in PARTS:
        part = {"sku": sku, "name": title, "stock": dice.randint(0, 9), "least": 3, "price": dice.randint(3, 90) * 50}
        data["parts"].append({**own, "id": next(ids), **part})
    for place, customer in enumerate(dice.sample(NAMES, 5)):
        _customer(data, dice, ids, own, f"K-{1001 + place}", customer)


def _customer(data, dice, ids, own, number, name):
    customer_id, vehicle_id = next(ids), next(ids)
    email = f"{name.split()[0].lower()}@mail.example"
    data["customers"].append({**own, "id": customer_id, "number": number, "name": name, "email": email})
    plate = f"HH-{dice.choice('ABCDE')}{dice.choice('KLMNO')} {dice.randint(10, 999)}"
    vehicle = {"customer_id": customer_id, "plate": plate, "model": dice.choice(MODELS)}
    data["vehicles"].append({**own, "id": vehicle_id, **vehicle})
    for _ in range(dice.randint(1, 3)):
        job = {"customer_number": number, "vehicle_id": vehicle_id, "title": dice.choice(WORK)}
        opened = clock.days_after(clock.today(), -dice.randint(1, 60))
        data["jobs"].append({**own, "id": next(ids), **job, "price": dice.randint(10, 400) * 50, "opened_on": opened})
