"""python3 -m onelist [--db PATH] COMMAND"""

import argparse
import sys
from pathlib import Path

from onelist import shop, store


def main(argv=None):
    parser = argparse.ArgumentParser(prog="onelist", description=__doc__)
    parser.add_argument("--db", default="customers.db", help="the database (default: customers.db)")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("import", help="read a folder of exports")
    one.add_argument("folder")
    args = parser.parse_args(argv)
    if args.command == "import":
        return do_import(args.db, Path(args.folder))


def do_import(db, folder):
    path = folder / "shop.csv"
    if not path.exists():
        print(f"There is no {path}.", file=sys.stderr)
        return 1
    people = shop.read(path)
    connection = store.connect(db)
    store.save(connection, "shop", people)
    # TODO till, newsletter
    # TODO merge
    print(f"Read {len(people)} rows of {path}. The rest is not built yet.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
