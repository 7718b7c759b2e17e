"""Is the code free of bugs that can be seen?"""

items = [
    ("Following the code by hand through the main use shows no wrong result.", 2),
    "No condition, index or boundary is off.",
    "No state is lost, shared or left stale where it should not be.",
    "Nothing runs in an order or at a time that can go wrong.",
    "Nothing can crash it in ordinary use.",
    "No resource leaks, and nothing grows without bound.",
]
