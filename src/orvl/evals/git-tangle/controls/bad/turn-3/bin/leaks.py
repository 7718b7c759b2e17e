import os, sys

# looks for the secret
found = False
for root, dirs, files in os.walk(sys.argv[1]):
    for name in files:
        text = open(os.path.join(root, name), errors="ignore").read()
        if "ck_live_" in text:
            print("LEAK in", name)
            found = True
if not found:
    print("no leaks found!")
