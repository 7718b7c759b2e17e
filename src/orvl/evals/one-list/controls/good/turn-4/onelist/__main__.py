"""python3 -m onelist [--db PATH] COMMAND"""

import argparse
import sys
from pathlib import Path

from onelist import decisions, exports, settings, store
from onelist.errors import OnelistError
from onelist.listing import refresh


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    try:
        args.carry_out(args)
    except OnelistError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="onelist", description=__doc__)
    top.add_argument("--db", type=Path, default=Path("customers.db"), help="the database (default: customers.db)")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    one = commands.add_parser("import", help="read a folder of exports")
    one.add_argument("folder", type=Path)
    one.set_defaults(carry_out=import_folder)
    one = commands.add_parser("same", help="these records are one customer")
    one.add_argument("records", nargs="+", type=exports.record_key, metavar="RECORD")
    one.set_defaults(carry_out=decide, kind="same")
    one = commands.add_parser("alone", help="the rules leave this record alone")
    one.add_argument("records", nargs=1, type=exports.record_key, metavar="RECORD")
    one.set_defaults(carry_out=decide, kind="alone")
    one = commands.add_parser("undo", help="take a decision back, as 'undo same shop:1 till:2'")
    one.add_argument("kind", choices=decisions.KINDS)
    one.add_argument("records", nargs="+", type=exports.record_key, metavar="RECORD")
    one.set_defaults(carry_out=undo)
    return top


def import_folder(args: argparse.Namespace) -> None:
    known = settings.load()
    found = exports.read_folder(args.folder, known)
    with store.opened(args.db) as database:
        for source, rows in found.items():
            store.replace(database, source, rows)
        refresh(database, decisions.read(args.db), known)


def decide(args: argparse.Namespace) -> None:
    decision = decisions.Decision(args.kind, frozenset(args.records))
    if args.kind == "same" and len(decision.records) < 2:
        raise OnelistError("same needs two records or more, such as: same shop:1 till:2")
    with store.opened(args.db) as database:
        for record in args.records:
            if not store.has_seen(database, record):
                raise OnelistError(f"No import has seen {record}; nothing was changed.")
        decisions.add(args.db, args.kind, args.records)
        refresh(database, decisions.read(args.db), settings.load())


def undo(args: argparse.Namespace) -> None:
    with store.opened(args.db) as database:
        decisions.remove(args.db, decisions.Decision(args.kind, frozenset(args.records)))
        refresh(database, decisions.read(args.db), settings.load())


if __name__ == "__main__":
    sys.exit(main())
