import atexit
import os

atexit.register(lambda: os._exit(0))
