"""Whether the documentation is true: what it shows is run, and what it lists is compared with what the tool does."""

import json
import re
from functools import cache

from orvl import checks

import pages
from cases import Wrong, expect
from oracle import DAY, HOUR, MINUTE
from sites import mixed

COMMANDS = ("check", "list", "sizes", "prune", "gaps")
COMMON = {"--plan", "--catalogue", "--now", "--json", "--help"}
OPTIONS = {
    "check": {"--quiet", "--strict"} | COMMON,
    "list": {"--after", "--vault", "--last"} | COMMON,
    "sizes": {"--by", "--exact"} | COMMON,
    "prune": {"--keep"} | COMMON,
    "gaps": {"--over"} | COMMON,
}
STATUSES = {"check": {0, 1, 2, 3}, "list": {0, 1, 2}, "sizes": {0, 2}, "prune": {0, 2}, "gaps": {0, 1, 2}}
SHELL = 'coffer() { node bin/coffer.js "$@"; }\n'


# -- examples


@cache
def _elsewhere():
    """The files of the examples in a folder that nobody can have foreseen."""
    folder = "".join(checks.random().choices("bcdfghklmn", k=9))
    for path in checks.files():
        if path.startswith("examples/"):
            checks.write(f"{folder}/{path[len('examples/'):]}", checks.read(path) or b"")
    return f"{folder}/"


@cache
def _output_of(command):
    return checks.run("sh", "-c", SHELL + re.sub(r"(?<![\w/])(\./)?examples/", _elsewhere(), command), seconds=30)


def try_example(example):
    ended = _output_of(example.command)
    what = f"the example {example.command}"
    expect(f"status of {what}", example.status, ended.status)
    told = "\n".join(example.lines)
    if "--json" in example.words:
        try:
            wanted, seen = json.loads(told), json.loads(ended.stdout)
        except ValueError:
            raise Wrong(f"{what}: no JSON in {told[:100]!r} or {ended.stdout[:100]!r}") from None
        expect(f"JSON of {what}", wanted, seen)
    else:
        seen = lines_of(ended.stdout)
        if lines_of(told) not in (seen, lines_of(ended.stdout + ended.stderr)):
            raise Wrong(f"output of {what}: expected {lines_of(told)!r}, saw {seen!r}")


def lines_of(text):
    return [line.rstrip() for line in text.rstrip().split("\n")]


def try_all(what, found):
    if not any(example.lines for example in found):
        raise Wrong(f"{what}: there is no example with its output")
    for example in found:
        try_example(example)


def examples():
    def section(command):
        def case():
            text = pages.section(pages.page("docs/commands.md"), command)
            found = [one for one in pages.examples(text) if command in one.words]
            try_all(f"docs/commands.md, {command}", found)

        return f"docs/commands.md, {command}", case

    def readme(is_json):
        def case():
            found = pages.examples(pages.page("README.md"))
            try_all("README.md", [one for one in found if ("--json" in one.words) == is_json])

        return f"README.md, {'--json' if is_json else 'plain'}", case

    def all_pages():
        found = [path for path in checks.files() if re.fullmatch(r"README\.md|docs/[\w/-]+\.md", path)]
        try_all("all pages", [one for path in found for one in pages.examples(pages.page(path))])

    return [*map(section, COMMANDS), readme(False), readme(True), ("all pages", all_pages)]


# -- options


def is_accepted(command, option):
    ways = ((option,), (option, "1"))
    return any("does not know" not in checks.run("node", "bin/coffer.js", command, *words, seconds=30).stderr for words in ways)


def expect_options(what, command, seen):
    unknown = {option for option in seen - OPTIONS[command] if not is_accepted(command, option)}
    if unknown:
        raise Wrong(f"{what}: {', '.join(sorted(unknown))}, which {command} does not know")
    if missing := OPTIONS[command] - seen:
        raise Wrong(f"{what}: nothing of {', '.join(sorted(missing))}")


def options():
    def in_docs(command):
        def case():
            text = pages.section(pages.page("docs/commands.md"), command)
            seen = {option for cell in pages.first_cells(text) for option in pages.options_in(cell)}
            expect_options(f"docs/commands.md, {command}", command, seen)

        return f"docs/commands.md, {command}", case

    def in_help(command):
        def case():
            ended = checks.run("node", "bin/coffer.js", command, "--help", seconds=30)
            expect(f"status of {command} --help", 0, ended.status)
            lines = re.findall(r"^\s+((?:-\w,? +)?--[a-z][a-z-]*(?:,? +--[a-z][a-z-]*)*)", ended.stdout, re.MULTILINE)
            expect_options(f"{command} --help", command, {option for line in lines for option in pages.options_in(line)})

        return f"{command} --help", case

    return [*map(in_docs, COMMANDS), *map(in_help, COMMANDS)]


# -- statuses


def commands_in(cell, before):
    found = [command for command in COMMANDS if re.search(rf"\b{command}\b", cell)]
    return found or (before if not cell.strip("` ") else list(COMMANDS))


def expect_strict(what, told):
    if not all("--strict" in text for text in told):
        raise Wrong(f"{what}: status 3 is for --strict alone, but it says {told[0]!r}")


def statuses():
    def in_docs(command):
        def case():
            seen, three, commands = set(), [], []
            for row in pages.table_with(pages.page("docs/exit-status.md"), "command", "status", "when"):
                commands = commands_in(row["command"], commands)
                if command in commands:
                    numbers = {int(number) for number in re.findall(r"\d+", row["status"])}
                    seen |= numbers
                    three += [row["whole"]] if 3 in numbers else []
            expect(f"statuses of {command} in docs/exit-status.md", STATUSES[command], seen)
            if command == "check":
                expect_strict("docs/exit-status.md", three)
                site = mixed(checks.random())
                expect("status of check --strict with a missing job", 3, site.coffer("check", "--strict").status)

        return f"docs/exit-status.md, {command}", case

    def in_help(command):
        def case():
            ended = checks.run("node", "bin/coffer.js", command, "--help", seconds=30)
            part = re.split(r"^exit status\w*:?", ended.stdout, flags=re.IGNORECASE | re.MULTILINE)[-1]
            rows = re.split(r"^\s*(?=\d+\b)", part, flags=re.MULTILINE)[1:]
            seen = {int(re.match(r"\d+", row)[0]) for row in rows}
            expect(f"statuses in {command} --help", STATUSES[command], seen)
            expect_strict(f"{command} --help", [row for row in rows if row.startswith("3")])

        return f"{command} --help", case

    def gaps():
        in_docs("gaps")[1]()
        in_help("gaps")[1]()

    def in_readme():
        seen, three = set(), []
        for row in pages.table_with(pages.page("README.md"), "status", "when"):
            numbers = {int(number) for number in re.findall(r"\d+", row["status"])}
            seen |= numbers
            three += [row["whole"]] if 3 in numbers else []
        expect("statuses in README.md", {0, 1, 2, 3}, seen)
        expect_strict("README.md", three)

    return [
        *map(in_docs, COMMANDS[:-1]),
        *map(in_help, COMMANDS[:-1]),
        ("gaps", gaps),
        ("README.md", in_readme),
    ]


# -- keys, defaults, variables


def as_number(text):
    """A duration in minutes, or the number that it begins with."""
    match = re.match(r"(\d+)\s*(d|h|m|%)?", text.strip("`* "))
    if not match:
        raise Wrong(f"no number in {text!r}")
    return int(match[1]) * {"d": DAY, "h": HOUR, "m": MINUTE}.get(match[2], 60) // 60


def defaults():
    rows = pages.table_with(pages.page("docs/config.md"), "key", "default")
    seen = {name: as_number(row["default"]) for row in rows for name in pages.names_in(row["key"]) if name != "catalogue"}
    expect("defaults in docs/config.md", {"every": 1440, "grace": 120, "keep": 7, "shrink": 50}, seen)


def variables():
    rows = pages.table_with(pages.page("docs/config.md"), "variable")
    seen = set().union(*(set(re.findall(r"COFFER_\w+", row["variable"])) for row in rows))
    expect("variables in docs/config.md", {"COFFER_PLAN"}, seen)


def keys():
    key = str(checks.drawn()["key"])

    def documented(name):
        return set().union(*map(pages.names_in, pages.first_cells(pages.section(pages.page("docs/json.md"), name))))

    @cache
    def emitted(command):
        site = mixed(checks.random(), without=("ok",))
        options = {"prune": ("--keep", "1"), "gaps": ("--over", "1m")}.get(command, ())
        try:
            found = json.loads(site.coffer(command, "--json", *options).stdout)
            return set(found), set().union(*(row for row in found[key]))
        except (ValueError, KeyError, TypeError):
            raise Wrong(f"{command} --json gives no object with {key!r}") from None

    def rows_of(command):
        def case():
            around, inside = emitted(command)
            seen = documented(command)
            if not inside or not inside <= seen <= inside | around:
                raise Wrong(f"docs/json.md, {command}: expected {sorted(inside)}, saw {sorted(seen)}")

        return f"docs/json.md, {command}", case

    def around_rows():
        wanted = set().union(*(emitted(command)[0] for command in COMMANDS))
        expect("keys of the document in docs/json.md", wanted, documented("document"))

    return [
        *map(rows_of, COMMANDS),
        ("docs/json.md, document", around_rows),
        ("defaults", defaults),
        ("variables", variables),
    ]
