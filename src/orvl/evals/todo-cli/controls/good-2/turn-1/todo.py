#!/usr/bin/env python3
"""usage: todo.py add TEXT | list | done ID"""

import json
import os
import sys
from dataclasses import asdict, dataclass


@dataclass
class Item:
    id: int
    text: str
    done: bool = False

    def __str__(self):
        return "{} [{}] {}".format(self.id, "x" if self.done else " ", self.text)


class TodoList:
    """The items of one folder, in its todo.json."""

    path = "todo.json"

    def __init__(self):
        self.items = {}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                for row in json.load(file):
                    self.items[row["id"]] = Item(row["id"], row["text"], row["done"])

    def store(self):
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump([asdict(item) for item in self.items.values()], file)

    def add(self, text):
        number = max(self.items, default=0) + 1
        self.items[number] = Item(number, text)
        self.store()
        return f"Added {number}: {text}"

    def done(self, number):
        item = self.items[int(number)]
        item.done = True
        self.store()
        return f"Done {item.id}: {item.text}"

    def listing(self):
        return "\n".join(str(self.items[number]) for number in sorted(self.items))


if __name__ == "__main__":
    todo, (command, *rest) = TodoList(), sys.argv[1:] or ["help"]
    actions = {"add": todo.add, "done": todo.done, "list": todo.listing}
    if command not in actions:
        sys.exit(__doc__)
    answer = actions[command](*rest)
    if answer:
        print(answer)
