"""Makes the list from records and decisions."""

import sqlite3
from collections.abc import Iterable

from onelist import store
from onelist.choose import choose
from onelist.decisions import Decision
from onelist.exports import FORMS
from onelist.records import understand
from onelist.same import groups
from onelist.settings import Settings

FIELDS = ("name", "email", "phone", "street", "zip", "city", "since", "mail")


def refresh(database: sqlite3.Connection, decisions: Iterable[Decision], settings: Settings) -> None:
    """Puts the list right, from nothing but the records, their numbers and the decisions."""
    raw = {row.key: row for row in store.raw_records(database)}
    records = [record for row in raw.values() if (record := understand(row, settings))]
    numbers = store.number(database, [record.key for record in records])
    headers = {form.source: settings.headers[form.name] for form in FORMS}
    customers, origins = [], []
    for group in groups(records, decisions, settings.shared):
        group.sort(key=lambda record: numbers[record.key])
        no = numbers[group[0].key]
        customer = dict.fromkeys(FIELDS, "") | {"no": no, "records": " ".join(record.key for record in group)}
        for chosen in choose(group, numbers):
            customer[chosen.field] = chosen.cell.value
            record = chosen.record
            for column in chosen.cell.columns:
                origins.append(
                    (no, chosen.field, record.key, headers[record.source][column], raw[record.key].cells[column])
                )
        customers.append(customer)
    store.show(database, customers, origins)
