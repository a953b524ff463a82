"""The characters that the search over the history treats in a way of their own (see `search_text`)."""

from __future__ import annotations

import unicodedata


def _characters(*ranges: tuple[int, int]) -> str:
    """The ranges, both ends included, as they stand in a regular expression's brackets."""
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


_DROPPED = (
    (0x00AD, 0x00AD),  # soft hyphen
    (0x0300, 0x036F),  # combining marks of Latin, Greek and Cyrillic
    (0x0483, 0x0489),  # Cyrillic
    (0x0591, 0x05BD),  # Hebrew points and accents
    (0x05BF, 0x05BF),
    (0x05C1, 0x05C2),
    (0x05C4, 0x05C5),
    (0x05C7, 0x05C7),
    (0x0610, 0x061C),  # Arabic
    (0x0640, 0x0640),  # its lengthening
    (0x064B, 0x065F),
    (0x0670, 0x0670),
    (0x06D6, 0x06DC),
    (0x06DF, 0x06E4),
    (0x06E7, 0x06E8),
    (0x06EA, 0x06ED),
    (0x0898, 0x089F),
    (0x08CA, 0x08E1),
    (0x08E3, 0x08FF),
    (0x180B, 0x180F),  # variants of Mongolian letters
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x200C, 0x200F),  # joiners and directions
    (0x202A, 0x202E),
    (0x2060, 0x2064),
    (0x2066, 0x206F),
    (0x20D0, 0x20FF),  # marks around symbols
    (0x2DE0, 0x2DFF),  # Cyrillic
    (0xA66F, 0xA672),
    (0xA674, 0xA67D),
    (0xA69E, 0xA69F),
    (0xFB1E, 0xFB1E),  # Hebrew
    (0xFE00, 0xFE0F),  # variants
    (0xFE20, 0xFE2F),
    (0xFEFF, 0xFEFF),
    (0xE0100, 0xE01EF),
)
DROPPED = _characters(*_DROPPED)
"""Marks and characters without a form of their own: what they stand on or between is found without them."""

SINGLE = _characters(
    (0x0E00, 0x0E7F),  # Thai
    (0x0E80, 0x0EFF),  # Lao
    (0x1000, 0x109F),  # Burmese
    (0x1100, 0x11FF),  # Korean
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19FF),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x1B00, 0x1B7F),  # Balinese
    (0x2E80, 0x2FDF),  # parts of Chinese characters
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x302A, 0x302F),
    (0x3031, 0x3035),
    (0x3038, 0x303C),
    (0x3040, 0x318F),  # Japanese, Bopomofo, Korean letters
    (0x31A0, 0x31BF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Chinese
    (0x4E00, 0x9FFF),
    (0xA000, 0xA4CF),  # Yi
    (0xA960, 0xA97F),  # Korean
    (0xA980, 0xA9FF),  # Javanese, Burmese
    (0xAA60, 0xAADF),  # Burmese, Tai Viet
    (0xAC00, 0xD7FF),  # Korean
    (0xF900, 0xFAFF),  # Chinese
    (0x16FE0, 0x18DFF),  # Tangut, Khitan
    (0x1AFF0, 0x1B2FF),  # Japanese, Nüshu
    (0x20000, 0x3FFFD),  # Chinese
)
"""Scripts whose words are written without spaces, and Korean."""

PLAIN = str.maketrans(
    {
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "ħ": "h",
        "ŧ": "t",
        "ı": "i",
        "æ": "ae",
        "œ": "oe",
        "ɨ": "i",
        "ƀ": "b",
        "ɓ": "b",
        "ɗ": "d",
        "ǥ": "g",
        "ƙ": "k",
        "ƴ": "y",
        "ʉ": "u",
        "ƶ": "z",
        "ɉ": "j",
        "ⱥ": "a",
        "ȼ": "c",
        "ꞓ": "c",
        "ɍ": "r",
        "ꝛ": "r",
        "ⱦ": "t",
        "ґ": "г",
        "ғ": "г",
        "қ": "к",
        "ң": "н",
        "ҳ": "х",
        "ұ": "у",
        "ٱ": "ا",
        "ʻ": " ",
        "ʼ": " ",
    }
)
"""Letters whose stroke, tail or ligature Unicode does not take apart, and letters that are used as apostrophes."""


def _joined_marks() -> frozenset[str]:
    """All marks, and what is written as the second part of a Korean syllable or a half-width Japanese letter."""
    marks = {
        chr(code)
        for first, last in ((0x300, 0x20000), (0xE0100, 0xE01F0))
        for code in range(first, last)
        if unicodedata.category(chr(code))[0] == "M"
    }
    dropped = (chr(code) for first, last in _DROPPED for code in range(first, last + 1))
    others = (
        chr(code)
        for first, last in ((0x1160, 0x11FF), (0xD7B0, 0xD7FF), (0xFF9E, 0xFF9F))
        for code in range(first, last + 1)
    )
    return frozenset(marks.union(dropped, others))


JOINED_MARKS = _joined_marks()
"""What belongs to the character before it."""
