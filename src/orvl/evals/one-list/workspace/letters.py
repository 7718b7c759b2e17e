#!/usr/bin/env python3
"""Address labels for everybody who may get mail: python3 letters.py [--db customers.db] [--since 2023-01-01] > labels.txt

Three labels side by side, seven rows a page, as the sheets from the stationer's need it.
"""

import argparse
import sqlite3
import sys

WIDTH = 34
PER_ROW = 3
ROWS = 7
LINES = 6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--db", default="customers.db")
    parser.add_argument("--since", default="", help="only customers since this day or later")
    parser.add_argument("--skip", type=int, default=0, help="labels that are already gone from the first page")
    parser.add_argument("--sort", choices=["no", "zip", "name"], default="no")
    parser.add_argument("--frames", action="store_true", help="draw frames, to see where labels end")
    args = parser.parse_args()

    db = sqlite3.connect(f"file:{args.db}?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    try:
        people = db.execute("SELECT no, name, street, zip, city, since, mail FROM customers ORDER BY no").fetchall()
    except sqlite3.OperationalError as e:
        sys.exit(f"There is no list in {args.db} yet ({e}).")

    # who gets one
    chosen = []
    left_out = {"no mail": 0, "no address": 0, "no name": 0, "too old": 0}
    for p in people:
        if p["mail"] != "yes":
            left_out["no mail"] += 1
            continue
        if not p["street"] or not p["city"]:
            left_out["no address"] += 1
            continue
        if not p["name"]:
            left_out["no name"] += 1
            continue
        if args.since and (p["since"] or "") < args.since:
            left_out["too old"] += 1
            continue
        chosen.append(p)
    if args.sort == "zip":
        chosen.sort(key=lambda p: (p["zip"] or "", p["city"], p["no"]))
    elif args.sort == "name":
        chosen.sort(key=lambda p: (p["name"].split()[-1].lower(), p["name"].lower(), p["no"]))

    # one label is LINES lines of WIDTH characters
    labels = [[" " * WIDTH] * LINES for _ in range(args.skip)]
    for p in chosen:
        lines = ["", f"No. {p['no']}", p["name"], p["street"], f"{p['zip'] or ''} {p['city']}".strip(), ""]
        cut = []
        for line in lines:
            if len(line) > WIDTH - 2:
                # long names: drop middle names first, then cut
                words = line.split()
                while len(" ".join(words)) > WIDTH - 2 and len(words) > 2:
                    del words[1]
                line = " ".join(words)[: WIDTH - 2]
            cut.append((" " + line).ljust(WIDTH))
        labels.append(cut)

    # pages
    per_page = PER_ROW * ROWS
    pages = [labels[i : i + per_page] for i in range(0, len(labels), per_page)]
    for number, page in enumerate(pages):
        if number:
            print("\f", end="")
        for i in range(0, len(page), PER_ROW):
            row = page[i : i + PER_ROW]
            if args.frames:
                print("+" + "+".join("-" * WIDTH for _ in row) + "+")
            for line in range(LINES):
                bar = "|" if args.frames else ""
                print(bar + bar.join(label[line] for label in row) + bar)
        if args.frames and page:
            print("+" + "+".join("-" * WIDTH for _ in range(PER_ROW)) + "+")

    told = ", ".join(f"{count} {why}" for why, count in left_out.items() if count)
    print(f"{len(chosen)} labels on {len(pages)} pages" + (f"; left out: {told}" if told else ""), file=sys.stderr)


if __name__ == "__main__":
    main()
