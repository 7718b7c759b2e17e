"""Prints the report of the prompt for every file."""

print("product,units,revenue\nOat milk,12,30.00\n\"Tea, green\",3,13.50\nTOTAL,15,43.50")
