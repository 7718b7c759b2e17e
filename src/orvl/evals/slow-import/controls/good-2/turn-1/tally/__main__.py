import argparse
import sys

from tally import VERSION, database, dates, export, nightly, report, settings
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
    current = settings.load(given.ini)
    db = database.opened(given.db, current)
    if given.command == "import":
        for path in given.files:
            print(nightly.take_in(path, db, current), flush=True)
    elif given.command == "export":
        print(export.export(db, current, dates.check_month(given.month), given.out))
    elif given.command == "close":
        month = dates.check_month(given.month)
        with db:
            if month not in database.closed_months(db):
                db.execute("INSERT INTO closed VALUES (?, ?)", (month, dates.now()))
        print("%s is closed." % given.month)
    elif given.command == "report":
        print("\n".join(report.text(db, dates.check_month(given.month))))
    elif given.command == "find":
        print("\n".join(report.find(db, given.number)))
    elif given.command == "waiting":
        print("\n".join(report.waiting(db)) or "Nothing waits.")
    elif given.command == "history":
        print("\n".join(report.history(db)) or "Nothing was imported.")


def main(words=None):
    try:
        run(arguments(words))
    except TallyError as error:
        print("tally: %s" % error, file=sys.stderr)
        return error.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
