"""python3 -m onelist [--db PATH] COMMAND"""

import argparse
import sys
from pathlib import Path

from onelist import database, readers, settings


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="onelist", description=__doc__)
    parser.add_argument("--db", type=Path, default=Path("customers.db"), help="the database (default: customers.db)")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("import", help="read a folder of exports").add_argument("folder", type=Path)
    args = parser.parse_args(argv)
    connection = database.connect(args.db)
    try:
        with connection:
            database.load(connection, readers.read_folder(args.folder, settings.load()))
            database.regroup(connection)
    except readers.UnusableExport as refusal:
        print(refusal, file=sys.stderr)
        return 1
    finally:
        connection.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
