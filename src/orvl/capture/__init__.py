"""What a run left behind: files, diff, checks, and what programs found out about it."""
