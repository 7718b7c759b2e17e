"""A to-do list on the command line, kept in todo.json in the current folder."""

import argparse
import json
import os
import re
import sys
from datetime import date
from pathlib import Path

FILE = Path("todo.json")


class TodoError(Exception):
    """Something the user should be told in one line."""


def iso_date(text: str) -> str:
    """Return *text* if it is a real date written as YYYY-MM-DD."""
    try:
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            raise ValueError
        date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date like 2030-05-01") from None
    return text


def is_item(value: object) -> bool:
    return (
        isinstance(value, dict)
        and type(value.get("id")) is int
        and isinstance(value.get("text"), str)
        and isinstance(value.get("done"), bool)
        and isinstance(value.get("due"), str | None)
    )


def load() -> list[dict]:
    try:
        items = json.loads(FILE.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError) as error:
        raise TodoError(f"cannot read {FILE}: {error}") from error
    if not isinstance(items, list) or not all(map(is_item, items)):
        raise TodoError(f"{FILE} is damaged: it is not a list of items")
    return sorted(items, key=lambda item: item["id"])


def save(items: list[dict]) -> None:
    """Write a new file first, so that a crash cannot cut off the old one."""
    new = FILE.with_suffix(".json.new")
    new.write_text(json.dumps(items, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(new, FILE)


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


def done(wanted: str) -> None:
    items = load()
    for item in items:
        if str(item["id"]) == wanted:
            item["done"] = True
            save(items)
            print(f"Done {wanted}: {item['text']}")
            return
    raise TodoError(f"there is no item {wanted!r}")


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
    command.add_argument("id")
    command = commands.add_parser("overdue", help="show what should have been done by now")
    command.add_argument("--today", type=iso_date, default=date.today().isoformat(), metavar="YYYY-MM-DD")
    args = parser.parse_args()
    try:
        match args.command:
            case "add":
                add(args.text, args.due)
            case "list":
                show(load())
            case "done":
                done(args.id)
            case "overdue":
                overdue(args.today)
    except TodoError as error:
        print(f"todo.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
