"""Greet the world, or every name given on the command line."""

import sys


def main(names: list[str]) -> int:
    if any(not name.strip() for name in names):
        print("hello.py: a name must not be empty", file=sys.stderr)
        return 2
    for name in names or ["world"]:
        print(f"Hello, {name}!")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
