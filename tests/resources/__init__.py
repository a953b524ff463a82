"""The files that the package carries."""
