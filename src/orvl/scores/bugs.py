"""Is the code free of bugs that can be seen?"""

weight = 2
items = [
    ("Following the code by hand through the main use gives the right result.", 2),
    "Every condition tests what it is meant to test.",
    "Every index, range and boundary is right.",
    {"item": "State is lost, or left stale, where it is still needed.", "good": "no"},
    "What runs later, or at the same time, cannot come in a wrong order.",
    {"item": "Ordinary use can end in a crash or in an unhandled error.", "good": "no"},
    "What is opened or started is closed or ended again.",
]
