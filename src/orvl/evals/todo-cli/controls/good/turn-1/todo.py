"""A to-do list on the command line, kept in todo.json in the current folder."""

import argparse
import json
import sys
from pathlib import Path

FILE = Path("todo.json")


def load() -> list[dict]:
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else []


def save(items: list[dict]) -> None:
    FILE.write_text(json.dumps(items, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def show(items: list[dict]) -> None:
    for item in items:
        mark = "x" if item["done"] else " "
        print(f"{item['id']} [{mark}] {item['text']}")


def add(text: str) -> None:
    items = load()
    item = {"id": max((item["id"] for item in items), default=0) + 1, "text": text, "done": False}
    save([*items, item])
    print(f"Added {item['id']}: {text}")


def done(wanted: int) -> None:
    items = load()
    item = next(item for item in items if item["id"] == wanted)
    item["done"] = True
    save(items)
    print(f"Done {wanted}: {item['text']}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("add", help="add an item")
    command.add_argument("text")
    commands.add_parser("list", help="show all items")
    command = commands.add_parser("done", help="mark an item as done")
    command.add_argument("id", type=int)
    args = parser.parse_args()
    match args.command:
        case "add":
            add(args.text)
        case "list":
            show(load())
        case "done":
            done(args.id)
    return 0


if __name__ == "__main__":
    sys.exit(main())
