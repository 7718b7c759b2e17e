"""Is the code easy to read?"""

items = [
    "Names say what things are and do.",
    "Each function or component does one thing.",
    "The code is laid out and named in one consistent way.",
    {"item": "There is dead or commented-out code.", "good": "no"},
    {"item": "The same code is written out in several places.", "good": "no"},
    "The control flow is plain, without deep nesting.",
    "No function is too long to be read at once.",
]
