"""No file can be used, and every row is bad."""

import sys

for name in sys.argv[1:]:
    for line in range(2, 9):
        print(f"{name}:{line}: cannot be used", file=sys.stderr)
print("product,units,revenue\nTOTAL,0,0.00")
sys.exit(1 if len(sys.argv) == 2 else 2)
