"""A control of known quality: writes the eval's bad files."""

models = {"none": ["fixed"]}
control = "bad"

COPY = 'cp -R "$0/." . && find . -name __pycache__ -prune -exec rm -rf {} +'


def command(controls):
    return ["sh", "-c", COPY, f"{controls}/bad"]
