"""A control of known quality: does nothing at all."""

models = {"none": ["fixed"]}
control = ""


def command():
    return "true"
