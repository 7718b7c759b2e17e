"""Does it do what was asked? Judges answer from what checks and scripted steps showed, and then from the code."""

weight = 7  # in the place of checks, where there are none
may_look = True  # judges with `looks` may read further files, and use the app
items = [
    ("Every feature that the task asks for is there.", 2),
    "Every feature that is there does what the task says.",
    {"item": "Something that the task asks for is stubbed, faked or left to be written.", "good": "no"},
    {"item": "A check or a scripted step failed because of the work.", "good": "no"},
    "It starts as it was left, without anything to be mended first.",
    "Files and names that the task fixes are exactly as it says.",
    "Texts and formats that the task fixes are exactly as it says.",
]
