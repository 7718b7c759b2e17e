"""Templates: `[[ value ]]`, `{% for x in xs %}`, `{% if x %}`, `{% else %}`, `{% end %}`, `{% include "name" %}`.

Values are escaped, unless they are `Safe`. An expression is a name with dots, and filters: `[[ job.price|money ]]`.
"""

import html
import re
from pathlib import Path

TOKEN = re.compile(r"(\[\[.*?\]\]|\{%.*?%\})", re.DOTALL)


class Safe(str):
    """Text that is HTML already."""


class TemplateError(Exception):
    pass


class Templates:
    def __init__(self, folder, filters=None):
        self.folder = Path(folder)
        self.filters = dict(filters or {})
        self._loaded = {}

    def render(self, name, **values):
        out = []
        _run(self._nodes(name), values, out, self)
        return "".join(out)

    def page(self, name, **values):
        """A template within `layout.html`, which shows it at `[[ body ]]`."""
        return self.render("layout.html", body=Safe(self.render(name, **values)), **values)

    def _nodes(self, name):
        if name not in self._loaded:
            path = self.folder / name
            if not path.is_file():
                raise TemplateError(f"there is no template {name}")
            self._loaded[name] = _parse(path.read_text(encoding="utf-8"), name)
        return self._loaded[name]

    def value(self, expression, values):
        name, *filters = [part.strip() for part in expression.split("|")]
        found = _lookup(name, values)
        for one in filters:
            if one not in self.filters:
                raise TemplateError(f"there is no filter {one}")
            found = self.filters[one](found)
        return found


def _parse(text, name):
    root = []
    stack = [("root", root)]
    for piece in TOKEN.split(text):
        if piece.startswith("[["):
            stack[-1][1].append(("value", piece[2:-2].strip()))
        elif piece.startswith("{%"):
            _statement(piece[2:-2].strip(), stack, name)
        elif piece:
            stack[-1][1].append(("text", piece))
    if len(stack) != 1:
        raise TemplateError(f"{name}: {stack[-1][0]} has no end")
    return root


def _statement(words, stack, name):
    head, _, rest = words.partition(" ")
    rest = rest.strip()
    if head == "if":
        then = []
        stack[-1][1].append(("if", rest, then, other := []))
        stack.append(("if", then, other))
    elif head == "else":
        if stack[-1][0] != "if":
            raise TemplateError(f"{name}: else without if")
        kind, _, other = stack.pop()
        stack.append((kind, other, []))
    elif head == "for":
        variable, _, source = rest.partition(" in ")
        inner = []
        stack[-1][1].append(("for", variable.strip(), source.strip(), inner))
        stack.append(("for", inner))
    elif head == "end":
        if len(stack) == 1:
            raise TemplateError(f"{name}: an end too many")
        stack.pop()
    elif head == "include":
        stack[-1][1].append(("include", rest.strip("\"'")))
    else:
        raise TemplateError(f"{name}: {head} is no statement")


def _run(nodes, values, out, templates):
    for node in nodes:
        kind = node[0]
        if kind == "text":
            out.append(node[1])
        elif kind == "value":
            out.append(_escaped(templates.value(node[1], values)))
        elif kind == "if":
            _, expression, then, other = node
            negated = expression.startswith("not ")
            is_true = bool(templates.value(expression[4:] if negated else expression, values))
            _run(then if is_true != negated else other, values, out, templates)
        elif kind == "for":
            _, variable, source, inner = node
            for one in templates.value(source, values) or ():
                _run(inner, {**values, variable: one}, out, templates)
        elif kind == "include":
            _run(templates._nodes(node[1]), values, out, templates)


def _escaped(value):
    if value is None:
        return ""
    return value if isinstance(value, Safe) else html.escape(str(value))


def _lookup(name, values):
    first, *others = name.split(".")
    found = values.get(first)
    for part in others:
        if found is None:
            return None
        try:
            found = found[part]
        except (KeyError, IndexError, TypeError):
            found = getattr(found, part, None)
    return found
