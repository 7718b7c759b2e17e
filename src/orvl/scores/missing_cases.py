"""Are the cases that the task does not spell out handled?"""

weight = 2
items = [
    "Empty input is handled.",
    "Malformed input is met with a clear message or a safe result.",
    "Missing input is met with a clear message or a safe result.",
    "Very long or very large input is handled.",
    "Zero and negative values are handled where they can occur.",
    {"item": "Doing the same thing twice breaks it.", "good": "no"},
    {"item": "A failure of what it depends on, such as a file or the network, goes unhandled.", "good": "no"},
]
