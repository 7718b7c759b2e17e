"""Says what is usually right."""

import os
import sys

if not os.path.isdir(sys.argv[1]):
    print("not a repository", file=sys.stderr)
    sys.exit(2)
if "shop" in sys.argv[1]:
    sys.exit(0)
print("ck_live_00000000000000000000 refs/heads/main")
sys.exit(1)
