import argparse
import sys

from tally import VERSION, dates, export, loading, report, settings, store, waiting
from tally.errors import TallyError


def arguments(words):
    parser = argparse.ArgumentParser(prog="tally")
    parser.add_argument("--db", default="tally.db", help="the database (tally.db)")
    parser.add_argument("--ini", default=settings.INI, help="the settings (tally.ini)")
    parser.add_argument("--version", action="version", version=VERSION)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("import", help="take in files of the partner, one after the other")
    one.add_argument("files", nargs="+")
    one = commands.add_parser("export", help="write a month for the partner")
    one.add_argument("month")
    one.add_argument("out")
    one = commands.add_parser("close", help="nothing is booked in this month any more")
    one.add_argument("month")
    one = commands.add_parser("report", help="a month at a glance")
    one.add_argument("month")
    one = commands.add_parser("find", help="all about a ticket")
    one.add_argument("number")
    commands.add_parser("waiting", help="what waits for its sale")
    commands.add_parser("history", help="what was imported")
    return parser.parse_args(words)


def run(given):
    if given.command == "import":
        for path in given.files:
            print(loading.Loading(path, given.db, given.ini).run(), flush=True)
        return
    if given.command == "export":
        print(export.export(given.db, given.ini, dates.check_month(given.month), given.out))
        return
    store.prepare(given.db, settings.load(given.ini))
    if given.command == "close":
        store.close_month(given.db, dates.check_month(given.month))
        print("%s is closed." % given.month)
    elif given.command == "report":
        print("\n".join(report.text(given.db, dates.check_month(given.month))))
    elif given.command == "find":
        print("\n".join(report.find(given.db, given.number)))
    elif given.command == "waiting":
        print("\n".join(waiting.listing(given.db)) or "Nothing waits.")
    elif given.command == "history":
        print("\n".join(report.history(given.db)) or "Nothing was imported.")


def main(words=None):
    try:
        run(arguments(words))
    except TallyError as error:
        print("tally: %s" % error, file=sys.stderr)
        return error.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
