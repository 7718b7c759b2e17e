"""python3 manage.py [--data FOLDER] COMMAND …: see README.md."""

import argparse
import json
import sys
from pathlib import Path

from gearbook import audit, clock, fixtures, header_log, seed
from gearbook.app import make_app
from gearbook.config import Config
from gearbook.db import connect, migrate, rows
from gearbook.services import search_index
from pinion.server import serve


def parser():
    made = argparse.ArgumentParser(prog="manage.py", description="Gearbook on the command line.")
    made.add_argument("--data", type=Path, default=Path("data"), help="the data folder (default: data)")
    commands = made.add_subparsers(dest="command", required=True)
    one = commands.add_parser("serve", help="serve until Ctrl-C")
    one.add_argument("--port", type=int, default=8000)
    one.add_argument("--base-url", help="how people reach it, for links in mail")
    one.add_argument("--log-headers", action="store_true")
    commands.add_parser("migrate", help="bring the database up to date")
    one = commands.add_parser("load", help="load a fixture (docs/fixtures.md)")
    one.add_argument("file", type=Path)
    one = commands.add_parser("seed", help="make up two workshops to look around in")
    one.add_argument("--random", type=int, default=1, help="another number, other workshops")
    commands.add_parser("reindex", help="make the search index anew")
    one = commands.add_parser("audit", help="print the audit log of a workshop as JSON lines, the latest first")
    one.add_argument("slug")
    one = commands.add_parser("purge", help="remove sessions and reset links that are too old")
    one.add_argument("--days", type=int, default=30)
    return made


def main(words=None):
    given = parser().parse_args(words)
    config = Config(given.data.resolve(), base_url=getattr(given, "base_url", None) or _base_url(given))
    config.make_folders()
    done = migrate(config.database)
    return COMMANDS[given.command](given, config, done) or 0


def _base_url(given):
    return f"http://127.0.0.1:{getattr(given, 'port', 8000)}"


def run_server(given, config, done):
    app = make_app(config)
    served = header_log.around(app, config.logs / "{{log}}.log") if given.log_headers else app
    serve(served, given.port, ready=lambda port: print(f"Gearbook at http://127.0.0.1:{port}", flush=True))
    app.worker.end()


def run_migrate(given, config, done):
    print("\n".join(done) or "nothing to do")


def run_load(given, config, done):
    try:
        data = json.loads(given.file.read_text(encoding="utf-8"))
        counts = fixtures.load(config, data)
    except (OSError, ValueError, fixtures.FixtureError) as error:
        print(f"{given.file}: {error}", file=sys.stderr)
        return 1
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    return 0


def run_seed(given, config, done):
    print(fixtures.load(config, seed.made_up(given.random)))
    print(f"Log in as {seed.OWNER} with {seed.PASSWORD}.")


def run_reindex(given, config, done):
    db = connect(config.database)
    print(f"{search_index.renew_all(db)} things are in the index")
    db.close()


def run_audit(given, config, done):
    db = connect(config.database)
    found = rows(db, "SELECT id FROM workshops WHERE slug = ?", given.slug)
    if not found:
        print(f"There is no workshop {given.slug}.", file=sys.stderr)
        return 1
    for entry in audit.entries(db, found[0]["id"], most=100_000):
        print(json.dumps(entry, ensure_ascii=False))
    return 0


def run_purge(given, config, done):
    db = connect(config.database)
    before = clock.ago(days=given.days)
    gone = sum(
        db.execute(f"DELETE FROM {table} WHERE created_at < ?", (before,)).rowcount for table in ("sessions", "resets")
    )
    print(f"{gone} removed")


COMMANDS = {
    "serve": run_server,
    "migrate": run_migrate,
    "load": run_load,
    "seed": run_seed,
    "reindex": run_reindex,
    "audit": run_audit,
    "purge": run_purge,
}

if __name__ == "__main__":
    sys.exit(main())
