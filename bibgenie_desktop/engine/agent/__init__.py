"""The agent: the turn loop, its tools, and the citations of its answers."""
