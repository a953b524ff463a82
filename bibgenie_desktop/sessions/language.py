"""Sentences and search words of plain text, for several languages and without a model. Pure.

Used where the app itself must read: to search a question's words, to quote whole sentences, to write the
deterministic parts of a checkpoint.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+(?:[’'\-‐‑][^\W_]+)*")

_STOP_WORDS = frozenset(
    # English
    "a about above after again against all also am an and any are as at be because been before being below between"
    " both but by can could did do does doing done during each either else every few for from further give had has"
    " have having he her here hers him his how i if in into is it its just like may me might more most much must my"
    " no nor not of off often on once one only or other our out over own please same say says shall she should show"
    " so some such tell than that the their them then there these they this those through to too under until up us"
    " very was we were what when where whether which while who whom whose why will with within without would you your"
    " explain describe list find mean means paper papers author authors write writes wrote according"
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

_SENTENCE_END = re.compile(r"[.!?…]+[\"”’»›“)\]]*\s+|[。！？]+[」』”’）]*\s*|\n\n+")
_LAST_TOKEN = re.compile(r"(?:[^\W\d_]\.)*[^\W_]+\Z")


def fold(word: str) -> str:
    """`word` for comparing: lower case, without diacritics."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def words(text: str) -> list[str]:
    """The words of `text` in order, as written."""
    return _WORD.findall(text)


@dataclass(frozen=True, slots=True)
class Term:
    """A word to search: as the user wrote it, and the folded stem that a matching word begins with."""

    word: str
    stem: str

    def matches(self, folded_word: str) -> bool:
        """Whether a word of a text, already folded, counts as this term."""
        return folded_word == self.stem or (len(self.stem) >= 4 and folded_word.startswith(self.stem))


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
    """English plurals and -ing lose their ending: enough to find `citation` by `citations`, and never a wrong word."""
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


_WHOLE = re.compile(r"[.!?…。！？][\"”’»›“)\]」』）]*\Z")


def is_whole(sentence: str) -> bool:
    """Whether a sentence ends as sentences do: a title, a heading or a piece cut off does not."""
    return _WHOLE.search(sentence) is not None


def _ends_sentence(text: str, start: int, end: re.Match[str]) -> bool:
    following = text[end.end() : end.end() + 2]
    if following[:1].isalpha() and following[1:] == ".":
        return False
    last = _LAST_TOKEN.search(text, start, end.start())
    if last is None:
        return True
    token = last[0]
    if token.casefold() in _ABBREVIATIONS:
        # `… in vol. 3. Then …`: an abbreviation ends a sentence only where nothing else can follow it.
        return False
    if len(token) == 1 and token.isalpha():
        return not token.isupper() and token.isascii()
    return not (token.isdigit() and len(token) <= 2 and _begins_list(text, start, last.start()))


def _begins_list(text: str, start: int, position: int) -> bool:
    """Whether a short number stands at the beginning of its sentence: `1. First` is no sentence."""
    return not text[start:position].strip()


def matched(terms: Iterable[Term], text: str) -> list[Term]:
    """Those of `terms` that occur in `text`."""
    folded = {fold(word) for word in words(text)}
    folded |= {piece for word in folded if "-" in word for piece in word.split("-")}
    return [term for term in terms if any(term.matches(word) for word in folded)]
