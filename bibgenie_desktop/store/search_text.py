"""Words as they are compared in the search over the history: without case and diacritics, in every script (T-8)."""

from __future__ import annotations

import unicodedata


def folded(text: str) -> str:
    """`text` as it is indexed and looked for."""
    return unicodedata.normalize("NFKC", text).casefold()
