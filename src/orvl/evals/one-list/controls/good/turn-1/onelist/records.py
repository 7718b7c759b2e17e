"""What a raw record says, cell by cell, once it is clean."""

import html
from dataclasses import dataclass

from onelist import clean
from onelist.exports import Raw
from onelist.settings import Settings

ADDRESS = ("street", "zip", "city")


@dataclass(frozen=True)
class Cell:
    value: str = ""
    columns: tuple[str, ...] = ()
    """The columns of the export that it was made from."""


EMPTY = Cell()


@dataclass(frozen=True)
class Record:
    key: str
    source: str
    known_by: str
    """The e-mail that tells who it is, also if it is dead."""
    changed: str
    name: Cell
    email: Cell
    phone: Cell
    since: Cell
    mail: Cell
    address: dict[str, Cell]
    """Street, zip and city, or nothing at all."""

    @property
    def has_full_name(self) -> bool:
        return " " in self.name.value


def understand(raw: Raw, settings: Settings) -> Record | None:
    """None where it is no customer: a test order, or a card that nobody has."""
    decode = html.unescape if raw.source == "shop" else str
    cells = {column: clean.text(decode(cell), settings) for column, cell in raw.cells.items()}
    known_by = clean.email(cells["email"])
    if raw.source == "shop" and known_by.endswith(f"@{settings.own_domain}"):
        return None
    if raw.source == "till" and not cells["customer"]:
        return None
    is_dead = cells.get("status") == "bounced"
    return Record(
        key=raw.key,
        source=raw.source,
        known_by=known_by,
        changed=clean.day(cells["changed"], raw.source),
        name=_name(raw.source, cells),
        email=EMPTY if is_dead else Cell(known_by, ("email",)),
        phone=Cell(clean.phone(cells["phone"], settings.country_code, raw.source == "till"), ("phone",)),
        since=Cell(clean.day(cells["since"], raw.source), ("since",)),
        mail=_mail(raw.source, cells),
        address=_address(raw.source, cells),
    )


def _name(source: str, cells: dict[str, str]) -> Cell:
    if source == "till":
        return Cell(clean.first_last(cells["customer"]), ("customer",))
    if source == "news":
        return Cell(cells["name"], ("name",))
    parts = {column: cells[column] for column in ("first", "last") if cells[column]}
    return Cell(" ".join(parts.values()), tuple(parts))


def _mail(source: str, cells: dict[str, str]) -> Cell:
    if source == "shop":
        return Cell({"1": "yes", "0": "no"}.get(cells["newsletter"], ""), ("newsletter",))
    if source == "news":
        return Cell({"subscribed": "yes", "unsubscribed": "no"}.get(cells["status"], ""), ("status",))
    return EMPTY


def _address(source: str, cells: dict[str, str]) -> dict[str, Cell]:
    if source == "till":
        found = clean.ADDRESS.fullmatch(cells["address"])
        return {field: Cell(found[field], ("address",)) for field in ADDRESS} if found else {}
    if source == "shop" and cells["street"] and cells["city"]:
        return {field: Cell(cells[field], (field,)) for field in ADDRESS}
    return {}
