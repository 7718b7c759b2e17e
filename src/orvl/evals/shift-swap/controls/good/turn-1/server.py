"""The server that the phone app talks to: python3 server.py --port 8000 --db cafe.db"""

import argparse
from pathlib import Path

from cafe.database import Database
from cafe.staff import read_staff
from cafe.web import make_server


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--db", default="cafe.db", help="the database; it is made if it is not there")
    options = parser.parse_args()
    staff = read_staff(Path(__file__).with_name("staff.json"))
    make_server(options.port, Database(options.db), staff).serve_forever()


if __name__ == "__main__":
    main()
