"""Is the code well made?"""

items = [
    "The code is divided into files and functions along what it does.",
    "The solution is as simple as the task allows: no needless layers, options or dependencies.",
    "Errors are handled where they happen, and not swallowed.",
    "Inputs from outside are not trusted: nothing lets them break out of where they belong.",
    "Constants, texts and settings are not scattered through the code.",
    "The means of the language, framework and project are used as they are meant to be.",
]
