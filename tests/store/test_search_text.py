"""How words are compared in the search over the history: in every script, and back to where they stand (T-8)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.store.search_text import folded, origin
from tests.discipline.lengths import Loops

pytestmark = pytest.mark.req("T-8")

SCRIPTS = "aZ ßéñø ﬁ Ａ①½™ ΆςΣ Ёй שׁלוֹ العَرَبِيَّة हिन्दी क्ष தமிழ் が㍿カﾞ ｶﾞ図書館 도서관 각 ไทยนี້ ကြီး ខ្មែរ İı ️‍­​"
TEXTS = st.text(st.one_of(st.sampled_from(SCRIPTS), st.characters(exclude_categories=["Cs"])), max_size=40)


@pytest.mark.parametrize(
    ("written", "tokens"),
    [
        ("Ünïcode STRASSE Straße", "unicode strasse strasse"),
        ("cafe\u0301 Café", "cafe cafe"),
        ("ﬁnal œuvre Ærø Łódź đ", "final oeuvre aero lodz d"),
        ("ＦＵＬＬ　ｗｉｄｔｈ　１２", "full width 12"),
        ("Ἀριστοτέλης ΛΌΓΟΣ λόγος ᾳ", "αριστοτελησ λογοσ λογοσ α"),
        ("Ёлка Йод", "елка иод"),
        ("שָׁלוֹם", "שלום"),
        ("العَرَبِيَّة أنا قـــال", "العربية انا قال"),
        ("İstanbul Kırmızı ISPARTA", "istanbul kirmizi isparta"),
        ("don't l’été state-of-the-art", "don t l ete state of the art"),
        ("Zahlungs\u00advor\u200bgang", "zahlungsvor gang"),
        ("हिन्दी", "हिन्दी"),
        ("が か ガ", "が か ガ"),
        ("か\u3099 ｶﾞ ｱｲ", "が ガ ア イ"),
        ("図書館でAI", "図 書 館 で ai"),
        ("도서관에서", "도 서 관 에 서"),
        ("한글", "한 글"),
        ("ภาษาไทย", "ภ า ษ า ไ ท ย"),
        ("ລາວ", "ລ າ ວ"),
        ("ខ្មែរ", "ខ ្ ម ែ រ"),
        ("မြန်မာ", "မ ြ န ် မ ာ"),
        ("a_b (c) — d\0e\n", "a b c d e"),
        ("!?…", ""),
    ],
)
def test_words_are_folded_to_tokens(written: str, tokens: str) -> None:
    assert folded(written) == unicodedata.normalize("NFC", tokens)


def test_voiced_marks_and_vowels_tell_words_apart() -> None:
    assert folded("がき") != folded("かき")
    assert folded("कि") != folded("की")
    assert folded("மா") != folded("ம")


@given(TEXTS)
def test_folding_what_is_folded_changes_nothing(text: str) -> None:
    once = folded(text)
    assert folded(once) == once


@given(TEXTS)
def test_composed_and_decomposed_text_is_the_same(text: str) -> None:
    assert folded(unicodedata.normalize("NFD", text)) == folded(unicodedata.normalize("NFC", text))


@given(TEXTS)
def test_text_folds_the_same_whatever_stands_beside_it(text: str) -> None:
    """Text without marks goes another way than text with one."""
    assert folded(f"{text}\n{'a' + chr(0x301)}") == " ".join(filter(None, (folded(text), "a")))


@given(TEXTS)
def test_tokens_hold_no_syntax_and_no_space_of_their_own(text: str) -> None:
    ascii_part = {character for character in folded(text) if character.isascii()}
    assert ascii_part <= set("abcdefghijklmnopqrstuvwxyz0123456789 ")
    assert folded(text) == " ".join(folded(text).split())


def test_each_character_folds_once_for_all(loops: Loops) -> None:
    """Alone, between letters, and behind one that takes marks."""
    step = loops(97, 1)
    for code in range(0, 0x110000, step):
        if not 0xD800 <= code < 0xE000:
            for text in (chr(code), f"a{chr(code)}b", f"か{chr(code)}"):
                once = folded(text)
                assert folded(once) == once, hex(code)


@pytest.mark.parametrize(
    ("text", "wanted", "place"),
    [
        ("The Straße ends", "strasse", "Straße"),
        ("Un cafe\u0301 noir", "cafe", "cafe\u0301"),
        ("読む図書館の本", "書 館", "書館"),
        ("ｶﾞﾗｽ", "ガ", "ｶﾞ"),
        ("㍿の", "式", "㍿"),
        ("...plain words, here", "words", "words"),
        ("العَرَبِيَّة", "العربية", "العَرَبِيَّة"),
        ("ﬁnal", "f", "ﬁ"),
    ],
)
def test_what_was_folded_is_found_again_where_it_stands(text: str, wanted: str, place: str) -> None:
    at = folded(text).index(wanted)
    start, end = origin(text, at, at + len(wanted))
    assert text[start:end] == place


@given(TEXTS)
def test_every_token_leads_to_letters_that_fold_to_it(text: str) -> None:
    at = 0
    last = 0
    for token in folded(text).split():
        start, end = origin(text, at, at + len(token))
        assert token in folded(text[start:end])
        assert last <= start < end <= len(text)
        last = start
        at += len(token) + 1


@given(TEXTS, st.integers(1, 12))
def test_a_place_far_into_a_text_is_found_as_one_at_its_beginning(text: str, times: int) -> None:
    before = f"some plain words, 図書 and cafe\u0301 {text} then " * 5 * times
    within = f"here {text} ends"
    at = len(folded(before)) + 1
    for token in folded(within).split():
        near = at - len(folded(before)) - 1
        start, end = origin(within, near, near + len(token))
        assert origin(before + within, at, at + len(token)) == (start + len(before), end + len(before))
        at += len(token) + 1
