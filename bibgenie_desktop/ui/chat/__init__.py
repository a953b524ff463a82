"""The chat: its messages as data, as a model, and as a view."""
