"""In which language something is written, as far as that is certain (C-10, H6). No model, no tables of the world."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from ..sessions.citations import TOKEN

LEAST_LETTERS = 40
"""Letters from which on a script is judged."""
LEAST_WORDS = 4
"""Function words from which on one of the languages of the Latin script is told from the others."""
LEAST_DIFFERENT = 3
"""Of them: a single letter of a formula can be a word somewhere."""

_FUNCTION_WORDS = {
    "en": "the and of to in is that it was for on are with as this be by not from have which were has what they how",
    "de": "der die das und ist nicht ein eine zu den von mit auf für im dem des als auch es sich wird wie sind oder",
    "fr": "le la les et des est une dans que qui pour pas sur du au avec ce sont par plus cette nous vous ne ou être",
    "es": "el los las y de que en un una es por con para no se su del al lo como más pero sus este está son fue",
    "it": "il lo gli e di che è un una per non con del della sono nel alla più come anche questo dei da si le ma",
    "pt": "o os as e de que em um uma é não por com para se do da no na mais como foi ao dos são mas pelo seu",
    "nl": "de het een en van is niet dat in op te zijn voor met die aan er ook als maar om wordt door bij naar dit",
}
_WORDS_OF = {name: frozenset(words.split()) for name, words in _FUNCTION_WORDS.items()}
_SCRIPTS = {
    "CYRILLIC": "ru",
    "GREEK": "el",
    "ARABIC": "ar",
    "HEBREW": "he",
    "DEVANAGARI": "hi",
    "THAI": "th",
    "HANGUL": "ko",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "CJK": "zh",
    "LATIN": "",
}
_DENSE = ("CJK", "HANGUL", "HIRAGANA", "KATAKANA")
_WORD = re.compile(r"[^\W\d_]+")
_QUOTED = re.compile(r"```.*?```|“[^”]*”|„[^“”]*[“”]|«[^»]*»|»[^«]*«|「[^」]*」|\"[^\"\n]*\"", re.DOTALL)
_MARKS = re.compile(r"\[(?:user|tool|inferred)\]|^#+ .*$|^\| .*$", re.MULTILINE)


def language_of(texts: Iterable[str]) -> str:
    """The language of texts as its code of two letters, "" where it is not certain.

    Of other scripts than Latin the script decides, so that `ru` stands for all that is written in Cyrillic.
    """
    text = _own_words("\n".join(texts))
    script = _script(text)
    if script != "LATIN":
        return _SCRIPTS.get(script, "")
    words = Counter(_WORD.findall(text.lower()))
    known = {name: [word for word in words if word in own] for name, own in _WORDS_OF.items()}
    counts = {name: sum(words[word] for word in own) for name, own in known.items()}
    first, second = sorted(counts, key=lambda name: counts[name], reverse=True)[:2]
    is_certain = counts[first] >= LEAST_WORDS and counts[first] >= counts[second] * 1.3 + 1
    return first if is_certain and len(known[first]) >= LEAST_DIFFERENT else ""


def differs(summary: str, expected: str) -> bool:
    """Whether a summary is certainly in another language than expected; names, keys and quotations do not decide."""
    found = language_of([summary])
    return bool(expected and found and found != expected)


def _own_words(text: str) -> str:
    return _MARKS.sub(" ", _QUOTED.sub(" ", TOKEN.sub(" ", text)))


def _script(text: str) -> str:
    """The script that most letters are of; a Japanese text holds kana among its characters."""
    counts = Counter[str]()
    for letter in text:
        if letter.isascii():
            counts["LATIN"] += letter.isalpha()
        elif letter.isalpha():
            name = unicodedata.name(letter, "").split(" ")[0]
            counts[name if name in _SCRIPTS else "CJK" if name.startswith("CJK") else "OTHER"] += 1
    # A character says as much as several letters.
    weighed = {
        name: count * (3 if name in ("CJK", "HANGUL", "HIRAGANA", "KATAKANA") else 1) for name, count in counts.items()
    }
    if sum(weighed.values()) < LEAST_LETTERS:
        return ""
    kana = counts["HIRAGANA"] + counts["KATAKANA"]
    if kana and kana * 10 >= counts["CJK"]:
        weighed["HIRAGANA"] = sum(weighed.get(name, 0) for name in ("CJK", "HIRAGANA", "KATAKANA"))
    script = max(weighed, key=lambda name: weighed[name])
    return script if weighed[script] * 2 > sum(weighed.values()) or script == "HIRAGANA" else ""
