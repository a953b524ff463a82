"""Text as it may be stored: whole Unicode scalars."""

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
