"""The command line: options, the wiring of an engine, and the commands. A composition root: it may import all."""
