"""A control of known quality: writes the eval's good files."""

models = {"none": ["fixed"]}
control = "good"

COPY = 'cp -R "$0/." . && find . -name __pycache__ -prune -exec rm -rf {} +'


def command(controls):
    return ["sh", "-c", COPY, f"{controls}/good"]
