#!/usr/bin/env python3
"""usage: todo.py add TEXT [--due YYYY-MM-DD] | list | done ID | overdue [--today YYYY-MM-DD]"""

import json
import os
import sys
from dataclasses import dataclass
from datetime import date, datetime


@dataclass
class Item:
    id: int
    text: str
    done: bool = False
    due: str | None = None

    def __str__(self):
        line = "{} [{}] {}".format(self.id, "x" if self.done else " ", self.text)
        return f"{line} (due {self.due})" if self.due else line


class TodoList:
    """The items of one folder, in its todo.json."""

    path = "todo.json"

    def __init__(self):
        self.items = {}
        if not os.path.exists(self.path):
            return
        try:
            with open(self.path, encoding="utf-8") as file:
                rows = json.load(file)
            if type(rows) is not list:
                raise TypeError("it is no list")
            for row in rows:
                self.items[row["id"]] = self.item(row)
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as problem:
            give_up(f"{self.path} is damaged ({problem!r}); it was left as it is")

    @staticmethod
    def item(row):
        item = Item(row["id"], row["text"], row["done"], row.get("due"))
        kinds = (type(item.id), type(item.text), type(item.done))
        if kinds != (int, str, bool) or not isinstance(item.due, str | None):
            raise TypeError("an item has something of another type")
        return item

    def store(self):
        """Beside the old file first, which stays whole if this is cut off."""
        beside = f".{self.path}.tmp"
        with open(beside, "w", encoding="utf-8") as file:
            json.dump([vars(item) for item in self.items.values()], file)
        os.replace(beside, self.path)

    def add(self, text, due=None):
        number = max(self.items, default=0) + 1
        self.items[number] = Item(number, text, due=due)
        self.store()
        return f"Added {number}: {text}"

    def done(self, number):
        item = {str(one): item for one, item in self.items.items()}.get(number)
        if item is None:
            give_up(f"no item has the id {number!r}")
        item.done = True
        self.store()
        return f"Done {item.id}: {item.text}"

    def listing(self):
        return "\n".join(str(self.items[number]) for number in sorted(self.items))

    def overdue(self, today=None):
        today = today or date.today().isoformat()
        late = [item for item in self.items.values() if item.due and item.due < today and not item.done]
        return "\n".join(str(item) for item in sorted(late, key=lambda item: (item.due, item.id)))


def give_up(why):
    print(f"todo: {why}", file=sys.stderr)
    sys.exit(1)


def checked(text):
    """The date, which must be real and written with all its digits."""
    try:
        day = datetime.strptime(text, "%Y-%m-%d")
    except ValueError:
        day = None
    if day is None or day.strftime("%Y-%m-%d") != text:
        print(f"{text!r} is not a date such as 2030-05-01", file=sys.stderr)
        sys.exit(2)
    return text


def parsed(words, flag):
    """The words without a flag, and the date behind it."""
    if flag not in words:
        return words, {}
    at = words.index(flag)
    day = checked(words[at + 1] if at + 1 < len(words) else "")
    return words[:at] + words[at + 2 :], {flag[2:]: day}


if __name__ == "__main__":
    command, *rest = sys.argv[1:] or ["help"]
    rest, dates = parsed(rest, {"add": "--due", "overdue": "--today"}.get(command, "-"))
    todo = TodoList()
    actions = {"add": todo.add, "done": todo.done, "list": todo.listing, "overdue": todo.overdue}
    if command not in actions:
        sys.exit(__doc__)
    answer = actions[command](*rest, **dates)
    if answer:
        print(answer)
