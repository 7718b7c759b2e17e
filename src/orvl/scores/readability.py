"""Is the code easy to read?"""

items = [
    "Names say what things are and do.",
    "Each function or component does one thing, and is short enough to be read at once.",
    "The code is laid out and named in one consistent way.",
    "There is no dead, commented-out or repeated code.",
    "The control flow is plain: little nesting, no tricks that a reader has to work out.",
]
