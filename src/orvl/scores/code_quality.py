"""Is the code well made?"""

weight = 2
items = [
    "The code is divided into files and functions along what it does.",
    {"item": "There are layers, options or abstractions that the task does not need.", "good": "no"},
    {"item": "There are dependencies that the task does not need.", "good": "no"},
    "Errors are handled where something can be done about them.",
    {"item": "An error is swallowed, so that nobody learns of it.", "good": "no"},
    "Input from outside cannot break out of where it belongs.",
    "A value that is used in several places is written down once.",
    "The means of the language and its libraries are used as they are meant to be.",
]
