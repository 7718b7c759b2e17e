"""Are the cases that the task does not spell out handled?"""

items = [
    "Empty input and empty lists are handled.",
    "Wrong, missing or malformed input is met with a clear message or a safe result.",
    "Limits are handled: very long, very large, very many, zero and negative.",
    "Repeated and unusual orders of actions do not break it.",
    "Failures of what it depends on (files, network, storage) are handled.",
]
