"""Calls every list damaged, every date wrong and every id unknown."""

import sys

print("todo.py: todo.json is damaged", file=sys.stderr)
sys.exit(2 if {"--due", "--today"} & set(sys.argv) else 1)
