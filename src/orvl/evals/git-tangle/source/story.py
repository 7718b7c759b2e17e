"""The history of the shop's repository in three variants: who did what when, and where the token got to."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import shop
from objects import Commit, Files, Objects, Person, Tag
from shop import Brackets

MAREN = Person("Maren Holt", "maren@krate.example")
PIP = Person("Pip Okafor", "pip@krate.example")
DAY = 86_400
GONE = "REMOVED"
REFACTORING, FIX, FEATURE = "KB-52", "KB-57", "KB-58"
"""The tickets of the three things in the tangled commit."""


@dataclass(frozen=True)
class Variant:
    """What differs: the colleague, the token, the prices, and the place where nobody looks for the token."""

    colleague: Person
    token: str
    brackets: Brackets
    begins: int
    hides_in: str
    """`commit` or `tag`: in its message; `notes`: in a ref that no clone fetches."""

    @property
    def name(self) -> str:
        return self.colleague.name.split()[0]

    @property
    def branch(self) -> str:
        return self.name.lower()


VARIANTS = (
    Variant(
        Person("Noor Haddad", "noor@krate.example"),
        "ck_live_7hq2m0x9fz4c1v8t5rbn",
        ((2000, 490), (5000, 690), (10000, 990), (20000, 1590)),
        1_688_979_600,
        "commit",
    ),
    Variant(
        Person("Ines Prado", "ines@krate.example"),
        "ck_live_w3e8k5d0yj6p2s9a1ugl",
        ((1500, 395), (3000, 545), (8000, 825), (25000, 1740)),
        1_696_845_600,
        "tag",
    ),
    Variant(
        Person("Tomek Lis", "tomek@krate.example"),
        "ck_live_0bn4t7r1xq9v3m6z8hcf",
        ((1800, 440), (4000, 610), (12000, 1120), (30000, 1980)),
        1_704_704_400,
        "notes",
    ),
)


@dataclass
class Story:
    """All commits of a variant, by short names, and the tags."""

    variant: Variant
    objects: Objects = field(default_factory=Objects)
    commits: dict[str, Commit] = field(default_factory=dict)
    tags: dict[str, Tag] = field(default_factory=dict)
    cleaned: dict[str, Commit] = field(default_factory=dict)
    days: Iterator[int] = field(default_factory=lambda: iter(range(1, 1000)))

    def now(self) -> int:
        """Another working hour of another day, not always the same."""
        day = next(self.days)
        return self.variant.begins + 2 * day * DAY + (day * 4_111) % 25_000

    def commit(
        self,
        name: str,
        parents: str,
        who: Person,
        subject: str,
        step: Callable[[Files], Files],
        ticket: str = "",
        body: str = "",
        files: Files | None = None,
    ) -> Commit:
        """The next commit on the first of the named parents; `files` are its parent's, if not given."""
        above = tuple(self.commits[parent] for parent in parents.split())
        before = files if files is not None else above[0].files if above else {}
        message = "\n\n".join(part for part in (subject, body, ticket and f"Ticket: {ticket}") if part) + "\n"
        self.commits[name] = self.objects.commit(step(before), above, who.at(self.now()), message)
        return self.commits[name]

    def tag(self, name: str, commit: str, message: str) -> None:
        self.tags[name] = self.objects.tag(name, self.commits[commit], MAREN.at(self.now()), message)

    # -- without the token

    def is_tainted(self, commit: Commit) -> bool:
        """Whether the token is in a commit, or in one that came before it."""
        texts = (commit.message, *commit.files.values())
        return any(self.variant.token in text for text in texts) or any(map(self.is_tainted, commit.parents))

    def clean(self, commit: Commit) -> Commit:
        """The commit as it is without the token, there and in all that came before it."""
        if not self.is_tainted(commit):
            return commit
        if commit.id not in self.cleaned:
            token = self.variant.token
            files = {path: text.replace(token, GONE) for path, text in commit.files.items()}
            parents = tuple(map(self.clean, commit.parents))
            message = commit.message.replace(token, GONE)
            self.cleaned[commit.id] = self.objects.commit(files, parents, commit.author, message, commit.committer)
        return self.cleaned[commit.id]

    def clean_tag(self, tag: Tag) -> Tag:
        message = tag.message.replace(self.variant.token, GONE)
        return self.objects.tag(tag.name, self.clean(tag.commit), tag.tagger, message)


def told(variant: Variant) -> Story:
    """The whole story, up to what the agent finds."""
    story = Story(variant)
    _until_1_0(story)
    _until_1_1(story)
    _until_1_2(story)
    _on_the_server(story)
    _on_the_laptop(story)
    return story


def _until_1_0(story: Story) -> None:
    variant, colleague = story.variant, story.variant.colleague
    story.commit("orders", "", MAREN, "order: read a week's orders", shop.reads_orders, "KB-1")
    story.commit("pack", "orders", MAREN, "pack: how many of each item", shop.packs, "KB-2")
    story.commit("catalogue", "pack", PIP, "item: grams and prices from a catalogue", shop.has_catalogue, "KB-3")
    story.commit("label", "catalogue", MAREN, "label: name, street and weight", shop.prints_labels, "KB-5")
    story.commit(
        "postage", "label", MAREN, "postage: by weight", lambda files: shop.takes_postage(files, variant.brackets), "KB-7"
    )
    story.commit(
        "table", "postage", colleague, "doc: the postage table",
        lambda files: shop.documents_postage(files, variant.brackets), "KB-8",
    )
    story.commit("1.0", "table", MAREN, "box: version 1.0", lambda files: shop.released(files, "1.0", "in spring"), "KB-9")


def _until_1_1(story: Story) -> None:
    variant, colleague = story.variant, story.variant.colleague
    story.commit("send", "1.0", PIP, "deploy: send labels to the courier", lambda files: shop.sends(files, variant.token), "KB-11")
    story.commit("retry", "send", PIP, "deploy: try again when the line is bad", shop.sends_twice, "KB-11")
    story.commit(
        "tills", "1.0", MAREN, "doc: what the tills run",
        lambda files: shop.pins_tills(files, story.commits["1.0"].id), "KB-12",
    )
    both = story.commits["retry"].files | {"docs/tills.md": story.commits["tills"].files["docs/tills.md"]}
    story.commit("merge", "tills retry", PIP, "Merge branch 'pip/courier'", lambda files: files, files=both)
    story.commit("heavy", "merge", colleague, "pack: heavy boxes first", shop.heavy_first, "KB-14")
    story.commit("env", "heavy", PIP, "deploy: settings in a folder of their own", shop.moves_env, "KB-15")
    story.commit("1.1", "env", MAREN, "box: version 1.1", lambda files: shop.released(files, "1.1", "in June"), "KB-16")
    story.tag("v1.1", "1.1", "Boxes 1.1\n\nThe first one that talks to the courier.\n")


def _until_1_2(story: Story) -> None:
    variant, colleague = story.variant, story.variant.colleague
    tried = f"Tried with\n\n    curl -H 'Authorization: Bearer {variant.token}' $COURIER_URL/me"
    story.commit("a6", "1.1", colleague, "doc: what fits on A6", shop.small_labels, "KB-25")
    story.commit("narrow", "a6", colleague, "label: 32 characters a line", shop.narrow_labels, "KB-25")
    story.commit(
        "trial", "1.1", PIP, "deploy: a trial run that sends nothing", shop.tries, "KB-18",
        tried if variant.hides_in == "commit" else "TRIAL=1 prints what would be sent.",
    )
    story.commit("towns", "trial", colleague, "order: spaces around a town", shop.strips_towns, "KB-19")
    story.commit("draft", "towns", PIP, "invoice: a first draft", shop.drafts_invoice, "KB-26")
    story.commit("bags", "towns", colleague, "doc: are bags enough?", shop.bags, "KB-27")
    story.commit("token", "towns", MAREN, "deploy: the token comes from outside", shop.reads_token, "KB-20")
    story.commit(
        "courier", "token", colleague, "doc: is the courier up?",
        lambda files: shop.documents_courier(files, variant.token), "KB-21",
    )
    story.commit("shelves", "courier", MAREN, "item: where it lies", shop.has_shelves, "KB-22")
    story.commit("example", "shelves", PIP, "doc: no token in the example", lambda files: shop.hides_token(files, variant.token), "KB-23")
    story.commit("1.2", "example", MAREN, "box: version 1.2", lambda files: shop.released(files, "1.2", "in autumn"), "KB-24")
    deployed = f"Runs at stall 2 with {variant.token} since Friday.\n"
    story.tag("v1.2", "1.2", "Boxes 1.2\n\n" + (deployed if variant.hides_in == "tag" else "Runs at stall 2 since Friday.\n"))
    story.commit("line", "1.2", colleague, "label: a line to cut at", shop.draws_line, "KB-30")
    story.commit("cost", "line", MAREN, "label: what the courier takes", shop.shows_postage, "KB-33")
    story.commit("base", "cost", MAREN, "order: refuse a count below 1", shop.refuses_counts, "KB-48")
    if variant.hides_in == "notes":
        note = {story.commits["1.1"].id: deployed, story.commits["1.0"].id: "Runs on both tills.\n"}
        story.commit("notes", "", MAREN, "Notes added by 'git notes add'", lambda files: files, files=note)


def _on_the_server(story: Story) -> None:
    """What went on since the laptop was last connected."""
    colleague = story.variant.colleague
    story.commit("shelf", "base", MAREN, "pack: name the shelf", shop.names_shelves, "KB-55")
    story.commit("empty", "shelf", MAREN, "order: skip rows without a count", shop.skips_empty, "KB-60")
    story.commit("depots", "empty", colleague, "route: which depot a town belongs to", shop.has_depots, "KB-61")
    story.commit("route", "depots", colleague, "route: which box goes into which van", shop.has_route, "KB-62")


def _on_the_laptop(story: Story) -> None:
    colleague = story.variant.colleague
    empty = story.commits["empty"]
    amended = story.objects.commit(
        shop.skips_blank(story.commits["shelf"].files), empty.parents, empty.author, empty.message, MAREN.at(story.now())
    )
    story.commits["blank"] = amended
    story.commit("total", "blank", MAREN, "pack: a total at the end", shop.totals_items, "KB-63")
    story.commit("pieces", "base", MAREN, "label: how many pieces there are", shop.counts_pieces, "KB-50")
    story.commit(
        "tangle", "pieces", MAREN, "box: allergens, postage at the limit, grams",
        lambda files: shop.allergens(shop.limits(shop.grams(files))),
        body=f"- {REFACTORING}: weight() is now total_grams(), in boxes/units.py\n"
        f"- {FIX}: a box at a limit of the postage table cost too much\n"
        f"- {FEATURE}: labels can list allergens (--allergens)",
    )
    story.commit("scanner", "tangle", colleague, "doc: what the scanner reads", shop.documents_labels, "KB-59")


MERGED = {"maren/postage-table": "postage", "pip/courier": "retry", "{}/towns": "towns", "maren/shelves": "shelves", "{}/line": "line"}
UNMERGED = {"{}/labels-a6": "narrow", "pip/invoice-draft": "draft", "{}/bags": "bags"}


def branches(variant: Variant, some: dict[str, str]) -> dict[str, str]:
    return {name.format(variant.branch): commit for name, commit in some.items()}


def server_refs(story: Story, main: str) -> dict[str, Commit | Tag]:
    """What is on the server at the beginning, with main at this commit."""
    heads = {"main": main} | branches(story.variant, MERGED) | branches(story.variant, UNMERGED)
    refs: dict[str, Commit | Tag] = {f"refs/heads/{name}": story.commits[commit] for name, commit in heads.items()}
    refs |= {"refs/tags/v1.0": story.commits["1.0"]} | {f"refs/tags/{name}": tag for name, tag in story.tags.items()}
    return refs | ({"refs/notes/deploys": story.commits["notes"]} if "notes" in story.commits else {})
