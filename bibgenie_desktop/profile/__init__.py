"""The profile: its paths, its settings, its log. Nothing of ours is imported here."""
