"""Transport: pipes, framing, start and supervision of the engine and the workers. Knows nothing of what they do."""
