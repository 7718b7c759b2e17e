"""`python -m orvl` is `orvl`."""

from orvl.cli import main

if __name__ == "__main__":
    main()
