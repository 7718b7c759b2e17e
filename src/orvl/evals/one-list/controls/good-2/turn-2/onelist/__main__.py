"""python3 -m onelist [--db PATH] COMMAND"""

import argparse
import sqlite3
import sys
from pathlib import Path

from onelist import database, ledger, readers, settings

Refusal = (readers.UnusableExport, ledger.UnknownRecord)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="onelist", description=__doc__)
    parser.add_argument("--db", type=Path, default=Path("customers.db"), help="the database (default: customers.db)")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("import", help="read a folder of exports").add_argument("folder", type=Path)
    commands.add_parser("same", help="records that are one customer").add_argument("records", nargs="+")
    commands.add_parser("alone", help="a record that the rules leave alone").add_argument("records", nargs=1)
    args = parser.parse_args(argv)
    connection = database.connect(args.db)
    decisions = ledger.Ledger(args.db.parent / "decisions.txt")
    try:
        with connection:
            carry_out(args, connection, decisions)
            database.regroup(connection, decisions.entries())
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        return 1
    finally:
        connection.close()
    return 0


def carry_out(args: argparse.Namespace, connection: sqlite3.Connection, decisions: ledger.Ledger) -> None:
    if args.command == "import":
        config = settings.load()
        database.load(connection, readers.read_folder(args.folder, config))
        return
    keys = [ledger.canonical(text) for text in args.records]
    ledger.check_known(keys, database.known_records(connection))
    decisions.enter(args.command, keys)


if __name__ == "__main__":
    sys.exit(main())
