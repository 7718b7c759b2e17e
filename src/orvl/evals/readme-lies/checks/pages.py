"""Pages of the documentation, in the forms of docs/writing.md: sections, tables, examples."""

import re

from orvl import checks

from cases import Wrong

FENCE = re.compile(r"^[ \t]*```([^\n`]*)\n(.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"--[a-z][a-z-]*")
CODE = re.compile(r"`([^`]+)`")


def page(path):
    content = checks.read(path)
    if content is None:
        raise Wrong(f"{path} is gone")
    return content.decode("utf-8", "replace").replace("\r\n", "\n")


def section(text, name):
    """What is under a heading with this name, up to the next heading that is not below it."""
    inside, found, fenced = 0, [], False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        heading = None if fenced else re.match(r"(#+)\s*(.*?)\s*#*\s*$", line)
        if heading and inside and len(heading[1]) <= inside:
            inside = 0
        if heading and not inside and name in re.split(r"[^\w-]+", heading[2].lower()):
            inside = len(heading[1])
            continue
        if inside:
            found.append(line)
    return "\n".join(found)


def tables(text):
    """Tables as lists of rows, each a list of cells; the first row is the head."""
    found, current = [], None
    for line in text.split("\n"):
        line = line.strip()
        if not line.startswith("|"):
            current = None
            continue
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
        if all(re.fullmatch(r":?-*:?", cell) for cell in cells) and "-" in line:
            continue
        if current is None:
            current = []
            found.append(current)
        current.append(cells)
    return found


def table_with(text, *names):
    """The first table whose head has these columns, as rows by column; `whole` is all of a row."""
    for rows in tables(text):
        head = [re.sub(r"[*_`]", "", cell).lower() for cell in rows[0]]
        places = [next((at for at, cell in enumerate(head) if name in cell), None) for name in names]
        if None not in places:
            return [{name: (row[at : at + 1] or [""])[0] for name, at in zip(names, places)} | {"whole": " ".join(row)} for row in rows[1:]]
    raise Wrong(f"no table with the columns {', '.join(names)}")


def first_cells(text):
    return [row[0] for rows in tables(text) for row in rows[1:] if row]


def options_in(cell):
    return set(NAME.findall(cell))


def names_in(cell):
    """Names in code, or the words of a cell without any."""
    names = [name.strip().strip('"') for name in CODE.findall(cell)] or re.split(r"[\s,]+", cell)
    return {name.split("[].")[-1].split(".")[-1] for name in names if name}


class Example:
    def __init__(self, command, lines):
        self.command = command
        while lines and not lines[-1].strip():
            lines.pop()
        told = re.fullmatch(r"\[?(?:exit )?status:? (\d+)\]?", lines[-1].strip()) if lines else None
        self.status = int(told[1]) if told else 0
        self.lines = [line.rstrip() for line in (lines[:-1] if told else lines)]

    @property
    def words(self):
        return self.command.split()


def examples(text):
    """All commands of coffer's that are shown with a $, each with what is said to come out."""
    found = []
    for language, body in FENCE.findall(text):
        body = re.sub(r"\\\n\s*>?\s*", " ", body)
        command, lines = None, []
        for line in [*body.rstrip("\n").split("\n"), "$ "]:
            if not re.match(r"\s*\$ ", line):
                lines.append(line)
                continue
            words = line.split("$ ", 1)[1].strip()
            if command == "echo $?" and found and lines and lines[0].strip().isdigit():
                found[-1].status = int(lines[0])
            elif command is not None and re.match(r"(node bin/)?coffer(\.js)?\b", command):
                # Elsewhere than in a console, a command alone says nothing of what it prints.
                if language.strip() == "console" or any(map(str.strip, lines)):
                    found.append(Example(command, lines))
            command, lines = words, []
    return found
