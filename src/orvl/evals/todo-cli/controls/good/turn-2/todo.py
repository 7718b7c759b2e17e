"""A to-do list on the command line, kept in todo.json in the current folder."""

import argparse
import json
import re
import sys
from datetime import date
from pathlib import Path

FILE = Path("todo.json")


def iso_date(text: str) -> str:
    """Return *text* if it is a real date written as YYYY-MM-DD."""
    try:
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            raise ValueError
        date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date like 2030-05-01") from None
    return text


def load() -> list[dict]:
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else []


def save(items: list[dict]) -> None:
    FILE.write_text(json.dumps(items, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def show(items: list[dict]) -> None:
    for item in items:
        mark = "x" if item["done"] else " "
        due = f" (due {item['due']})" if item.get("due") else ""
        print(f"{item['id']} [{mark}] {item['text']}{due}")


def add(text: str, due: str | None) -> None:
    items = load()
    item = {"id": max((item["id"] for item in items), default=0) + 1, "text": text, "done": False}
    if due:
        item["due"] = due
    save([*items, item])
    print(f"Added {item['id']}: {text}")


def done(wanted: int) -> None:
    items = load()
    item = next(item for item in items if item["id"] == wanted)
    item["done"] = True
    save(items)
    print(f"Done {wanted}: {item['text']}")


def overdue(today: str) -> None:
    late = [item for item in load() if not item["done"] and item.get("due") and item["due"] < today]
    show(sorted(late, key=lambda item: item["due"]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("add", help="add an item")
    command.add_argument("text")
    command.add_argument("--due", type=iso_date, metavar="YYYY-MM-DD")
    commands.add_parser("list", help="show all items")
    command = commands.add_parser("done", help="mark an item as done")
    command.add_argument("id", type=int)
    command = commands.add_parser("overdue", help="show what should have been done by now")
    command.add_argument("--today", type=iso_date, default=date.today().isoformat(), metavar="YYYY-MM-DD")
    args = parser.parse_args()
    match args.command:
        case "add":
            add(args.text, args.due)
        case "list":
            show(load())
        case "done":
            done(args.id)
        case "overdue":
            overdue(args.today)
    return 0


if __name__ == "__main__":
    sys.exit(main())
