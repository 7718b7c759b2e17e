"""One conversation: what it starts from, the command, its turns, what the agent printed."""
