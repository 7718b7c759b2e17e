"""A control of known quality: writes the eval's good files."""

models = {"none": ["fixed"]}
control = "good"


def command():
    return "true"  # orvl itself lays down the files of its controls
