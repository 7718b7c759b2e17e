"""python3 -m onelist [--db PATH] COMMAND"""

import argparse
import sys
from pathlib import Path

from onelist import exports, settings, store
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
    return top


def import_folder(args: argparse.Namespace) -> None:
    known = settings.load()
    found = exports.read_folder(args.folder, known)
    with store.opened(args.db) as database:
        for source, rows in found.items():
            store.replace(database, source, rows)
        refresh(database, known)


if __name__ == "__main__":
    sys.exit(main())
