"""Text as it may be stored: whole Unicode scalars; and the paragraphs of a draft."""

from __future__ import annotations


def well_formed(text: str) -> str:
    """`text` with split surrogate pairs joined and lone surrogates replaced by U+FFFD.

    Providers cut streams between the halves of a pair, and a lone half can be written to no file.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def without(text: str, paragraphs: str) -> str:
    """`text` without these whole paragraphs, where they first stand in it one behind the other; else as it is."""
    above, found, below = f"\n\n{text}\n\n".partition(f"\n\n{paragraphs}\n\n")
    return "\n\n".join(filter(None, (above[2:], below[:-2]))) if paragraphs and found else text
