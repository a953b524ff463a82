"""Sentences and search words of plain text, for several languages and without a model. Pure.

Used where the app itself must read: to search a question's words, to quote whole sentences, to write the
deterministic parts of a checkpoint.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

# A letter may be followed by its accents as characters of their own: `e` and U+0300.
_WORD = re.compile(r"(?:[^\W_][\u0300-\u036f]*)+(?:[’'\-‐‑](?:[^\W_][\u0300-\u036f]*)+)*")

_STOP_WORDS = frozenset(
    # English
    "a about above after again against all also am an and any are as at be because been before being below between"
    " both but by can could did do does doing done during each either else every few for from further give had has"
    " have having he her here hers him his how i if in into is it its just like may me might more most much must my"
    " no nor not of off often on once one only or other our out over own please same say says shall she should show"
    " so some such tell than that the their them then there these they this those through to too under until up us"
    " very was we were what when where whether which while who whom whose why will with within without would you your"
    " explain describe according"
    # German
    " aber als also am an auch auf aus bei bin bis bist da damit dann das dass dein dem den denn der des dessen die"
    " dies diese dieser dieses doch dort du durch ein eine einem einen einer eines er es etwas euch für gegen hat hatte"
    " ich ihm ihn ihr im in ist ja jede jeder jedes kann kein keine können könnte machen man mehr mein mit muss nach"
    " nicht noch nun nur ob oder ohne sehr sein seine sich sie sind so sollte über um und uns unter vom von vor wann"
    " war warum was weil welche welcher welches wenn wer werden wie wir wird wo würde zu zum zur zwischen bitte gibt"
    # French
    " au aux avec ce ces cette dans de des du elle en est et eux il ils je la le les leur lui mais ne nous on ou par"
    " pas pour qu que qui quoi sa se ses son sont sur un une vous quel quelle quels quelles comment pourquoi"
    # Spanish
    " al como con cuál cuáles del donde el ella ellos entre era es esta este esto hay las lo los más muy nos o para"
    " pero por porque qué quién se según ser si sin sobre su sus una unas uno unos y".split()
)

_ABBREVIATIONS = frozenset(
    "p pp f ff vol vols no nos nr ch chap sec sect fig figs tab eq eqs ed eds al et cf e.g i.e viz approx ca c vs etc"
    " dr prof mr mrs ms st jr sr inc ltd co dept univ repr transl trans ibid op cit loc n nn col cols par art app"
    " s bd bde hg hrsg vgl z z.b d d.h u.a s.o s.u bzw usw evtl ggf abb anm aufl kap jh jhd n.chr v.chr sog"
    " jan feb mar apr jun jul aug sep sept oct nov dec".split()
)

_BEFORE_ORDINAL = frozenset("am bis das dem den der des die dieses im ins jenes nach seit vom zum".split())
"""Between one of these German words and a noun, a short number with a point is an ordinal: `im 19. Jahrhundert`."""

_CLOSING = r"(?:[\"”’“‘»«›‹)\]]|[ \u00a0\u202f]»)*"
_SENTENCE_END = re.compile(rf"(?<![.!?…])[.!?…]+{_CLOSING}\s+|[。！？]+[」』”’）]*\s*|\n\n+")
_WHOLE = re.compile(rf"(?:[.!?…]{_CLOSING}|[。！？][」』”’）]*)\Z")
_LAST_TOKEN = re.compile(r"(?:[^\W\d_]\.)*[^\W_]+\Z")
_LETTER_AND_POINT = re.compile(r"(?<!\w)[^\W\d_]\.\s?\Z")
_TOKEN_WINDOW = 24
"""Characters before a point in which its token is looked for: more than any abbreviation has."""

_JOINTS = str.maketrans({"’": "'", "‐": "-"})
_PIECES = re.compile("['-]")


def fold(word: str) -> str:
    """`word` for comparing: lower case, without diacritics, compatible forms and joints written in one way."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", word).casefold())
    plain = "".join(character for character in decomposed if not unicodedata.combining(character))
    return unicodedata.normalize("NFC", plain.translate(_JOINTS))


def words(text: str) -> list[str]:
    """The words of `text` in order, as written."""
    return _WORD.findall(text)


@dataclass(frozen=True, slots=True)
class Term:
    """A word to search: as the user wrote it, and the folded stem that a matching word begins with.

    A stem of fewer than four letters begins too many words: then only the word itself and the stem itself match.
    """

    word: str
    stem: str

    @property
    def is_prefix(self) -> bool:
        """Whether the stem is long enough to stand for all words that begin with it."""
        return len(self.stem) >= 4

    def matches(self, folded_word: str) -> bool:
        """Whether a word of a text, already folded, counts as this term."""
        if self.is_prefix:
            return folded_word.startswith(self.stem)
        return folded_word in (self.stem, fold(self.word))


def search_terms(question: str) -> list[Term]:
    """The words of a question that carry its meaning, each once, in order; all words if it has none such."""
    found: dict[str, Term] = {}
    plain_words = words(question)
    for word in [word for word in plain_words if _carries_meaning(word)] or plain_words:
        term = Term(word, _stem(fold(word)))
        found.setdefault(term.stem, term)
    return list(found.values())


def _carries_meaning(word: str) -> bool:
    if word.casefold() in _STOP_WORDS:
        return False
    return len(word) > 1 or not word.isascii()


def _stem(folded: str) -> str:
    """English plurals, genitives and -ing lose their ending: enough to find `citation` by `citations`."""
    folded = folded.removesuffix("'s")
    if not folded.isascii():
        return folded
    if len(folded) >= 7 and folded.endswith("ing"):
        return folded[:-3]
    if len(folded) >= 5 and folded.endswith(("ses", "xes", "zes", "ches", "shes")):
        return folded[:-2]
    if len(folded) >= 4 and folded.endswith("s") and not folded.endswith(("ss", "us", "is")):
        return folded[:-1]
    return folded


def sentences(text: str) -> list[str]:
    """`text` cut into sentences, white space folded.

    An abbreviation (`p. 1`, `et al.`, `vgl. z. B.`), an initial and a decimal point end no sentence; nothing does
    that is followed by a small letter, be it a quoted question or a paragraph cut by a column's end.
    """
    found: list[str] = []
    start = 0
    for end in _SENTENCE_END.finditer(text):
        if text[end.end() : end.end() + 1].islower():
            continue
        if end[0].startswith(".") and not end[0].startswith("..") and not _ends_sentence(text, start, end):
            continue
        found.append(text[start : end.end()])
        start = end.end()
    found.append(text[start:])
    return [sentence for sentence in (" ".join(piece.split()) for piece in found) if sentence]


def is_whole(sentence: str) -> bool:
    """Whether a sentence ends as sentences do: a title, a heading or a piece cut off does not."""
    return _WHOLE.search(sentence) is not None


def _ends_sentence(text: str, start: int, end: re.Match[str]) -> bool:
    following = text[end.end() : end.end() + 2]
    if following[:1].isalpha() and following[1:] == ".":
        return False
    last = _LAST_TOKEN.search(text, max(start, end.start() - _TOKEN_WINDOW), end.start())
    if last is None:
        return True
    token = last[0]
    if token.casefold() in _ABBREVIATIONS or "." in token:
        # `the U.S. Army`: a sentence too long is a smaller fault than one cut in two.
        return False
    if len(token) == 1 and token.isalpha():
        # `J. Hale`, `d. h. Menschen`, but `the variable x. Then`
        is_spaced = _LETTER_AND_POINT.search(text, max(start, last.start() - 4), last.start()) is not None
        return not token.isupper() and token.isascii() and not is_spaced
    return not (token.isdigit() and len(token) <= 2 and _is_list_number_or_ordinal(text, start, last.start()))


def _is_list_number_or_ordinal(text: str, start: int, position: int) -> bool:
    """Whether a short number begins its sentence (`1. First`) or is a German ordinal (`am 3. Oktober`)."""
    before = text[max(start, position - _TOKEN_WINDOW) : position].split()
    return not before or before[-1].casefold() in _BEFORE_ORDINAL


def matched(terms: Iterable[Term], text: str) -> list[Term]:
    """Those of `terms` that occur in `text`."""
    folded = {fold(word) for word in words(text)}
    folded |= {piece for word in folded for piece in _PIECES.split(word)}
    return [term for term in terms if any(term.matches(word) for word in folded)]
