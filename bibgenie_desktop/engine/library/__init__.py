"""The user's library as the engine works with it: read from its source, indexed, searched."""
