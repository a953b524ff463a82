"""The sentence for each way in which a document cannot be read (Z-5)."""

from __future__ import annotations

from .port import DocumentProblem, ProblemCode

_SENTENCES: dict[ProblemCode, str] = {
    "missing": "The file is not there: it was moved, deleted or never downloaded; open the item in Zotero to fetch it.",
    "unreadable": "The system does not let this program open the file; check its permissions and the drive it is on.",
    "empty": "The file is empty (0 bytes); fetch it again.",
    "encrypted": "The file is encrypted and opens only with a password or licence; attach an unprotected copy.",
    "damaged": "The file is damaged and cannot be read; fetch it again.",
    "no_text": "The file has no text, probably it is a scan; attach a copy with recognised text.",
    "too_large": "The file is larger than this program reads safely; attach a smaller copy.",
    "unsupported": "The file is neither a PDF nor an EPUB, so its text is not read.",
    "timeout": "Reading the file took too long and was stopped; everything else goes on.",
    "crashed": "Reading the file ended the reading process; nothing else is affected, and it may be tried again.",
    "no_worker": "No reading process could be started, so the file was not looked at; free memory and try again.",
    "quarantined": "The file stopped the reading process twice and is left alone until it changes; fetch it again.",
}


def problem(code: ProblemCode) -> DocumentProblem:
    """The problem to raise, with its sentence for the user."""
    return DocumentProblem(code, _SENTENCES[code])


def problem_named(code: str) -> DocumentProblem:
    """The problem that a worker reports by its code. Raises ValueError for a code that is none."""
    for known in _SENTENCES:
        if known == code:
            return problem(known)
    raise ValueError(f"unknown problem: {code!r}")
