"""Does it do what was asked? Judges answer from what checks and scripted steps showed, and then from the code."""

weight = 3
may_look = True  # judges with `looks` may read further files, and use the app
items = [
    ("Everything that the task asks for is there, turn by turn; nothing that was asked for is missing.", 2),
    "What is there does what the task says, as far as checks, steps and code show.",
    "No check and no scripted step failed because of the work itself.",
    "It can be started and used as it was left, without anything more to be written or mended.",
    "What the task fixes exactly (names, texts, formats, places of files) is exactly so.",
]
