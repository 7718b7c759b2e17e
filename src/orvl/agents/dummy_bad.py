"""A control of known quality: writes the eval's bad files."""

models = {"none": ["fixed"]}
control = "bad"


def command():
    return "true"  # orvl itself lays down the files of its controls
