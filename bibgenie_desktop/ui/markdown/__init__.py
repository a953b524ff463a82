"""Answers written in Markdown, as the HTML that Qt's documents understand: nothing in them loads or runs (S-1)."""
