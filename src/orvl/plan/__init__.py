"""From the words of a call to cells and runs: what is done, what is left, what it may cost."""
