"""Cutting a text into sentences (stack-facts B3: a quotation is a whole sentence, and nothing of a text is lost)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.sessions.language import is_whole, sentences

texts = st.text() | st.text(st.sampled_from("aB1.!?…。！？”“)] \n中文pSz,-’"), max_size=60)

# A bar stands where one sentence ends and the next begins.
CASES = [
    # Plain
    "It works. |It really does.",
    "Really? |Yes! |Good.",
    "One sentence without an end",
    # Abbreviations, initials, initialisms
    "See p. 12 and pp. 14–16, fig. 3. |The rest follows.",
    "Smith et al. Found it first, cf. Hale, vol. 2, no. 7. |Others did not.",
    "J. R. R. Tolkien taught it. |He was a philologist.",
    "Dr. Hale met Prof. Okafor and Mrs. Vale. |They spoke.",
    "The U.S. Army came, i.e. Soldiers did. |It left.",
    # Numbers
    "The value is 3.14 on average. |It rises to 4.5 later.",
    "That was in 1999. |The next year was worse.",
    "The answer is 42. |Nobody asked.",
    "1. First we read.\n|2. Then we write.",
    # Quotations and brackets
    "“Who asked?” she said. |Nobody answered.",
    "He said “It is done.” |Then he left.",
    "He left (it was late). |She stayed.",
    "(It was late.) |She stayed.",
    "The firm (Hale Ltd.) closed. |It reopened.",
    # Ellipses
    "Wait... what happened? |Nothing.",
    "And then … nothing. |Silence.",
    # Paragraphs: a heading is alone, a sentence may run over a column's end
    "A heading\n\n|The text begins. |And goes on.",
    "A sentence runs over\n\nthe column’s end. |Then another.",
    "A sentence runs\nover a line. |Then another.",
    # German
    "Vgl. z. B. Müller, Bd. 3, S. 12. |Dort steht mehr.",
    "Am 3. Oktober 1990 wurde es wahr. |Danach nicht.",
    "Im 19. Jahrhundert lasen andere, d. h. Mönche. |Heute alle.",
    "Er las u. a. Bücher und z. B. Briefe. |Sie auch.",
    "Er sagte: »Das stimmt.« |»Nein!« |Dann ging er.",
    "Take the variable x. |Then square it.",
    "Der 2. Band fehlt. |Wir suchen ihn.",
    "Er sagte: „Das stimmt.“ |Dann ging er.",
    # French
    "Il a dit « Oui. » |Puis il partit.",
    # Chinese and Japanese need no space
    "今天天气很好。|我们去公园吧！|好吗？",
    "他引用了 Hale (2010)。|完毕。",
    "本を読む。|ノートを取る。",
]


@pytest.mark.parametrize("case", CASES)
def test_a_text_is_cut_where_its_sentences_end(case: str) -> None:
    expected = [" ".join(sentence.split()) for sentence in case.split("|")]
    assert sentences(case.replace("|", "")) == expected


@given(texts)
def test_every_character_is_in_one_sentence_in_order(text: str) -> None:
    found = sentences(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(sentence == " ".join(sentence.split()) != "" for sentence in found)


@given(texts)
def test_a_sentence_cut_again_is_not_cut_into_nothing(text: str) -> None:
    for sentence in sentences(text):
        assert "".join(sentences(sentence)).replace(" ", "") == sentence.replace(" ", "")


@pytest.mark.req("S-1")
@pytest.mark.parametrize("piece", [".", "J. ", "a", "...) ", "p. ", "1. ", "。", "\n\n", "“?", " ", "a.a."])
def test_no_text_takes_more_than_one_pass(piece: str) -> None:
    """A page may hold a megabyte of leader dots: with a pattern that starts anew at each, this would not end."""
    text = piece * (1_000_000 // len(piece))
    assert "".join("".join(sentences(text + "-.")).split()) == "".join(text.split()) + "-."


@pytest.mark.parametrize(
    ("sentence", "whole"),
    [
        ("It is.", True),
        ("Is it?”", True),
        ("« Oui. »", True),
        ("好。", True),
        ("A heading", False),
        ("cut off in the mid", False),
        ("", False),
    ],
)
def test_a_whole_sentence_ends_as_sentences_do(sentence: str, whole: bool) -> None:
    assert is_whole(sentence) is whole
