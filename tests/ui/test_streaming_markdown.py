"""What of a growing answer is finished."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bibgenie_desktop.ui.markdown.source import placeholder
from bibgenie_desktop.ui.markdown.streaming import closed, defines
from tests.ui.rendering import citation, renderer

ONE = renderer()


@pytest.mark.req("A-1")
@pytest.mark.parametrize(
    ("markdown", "finished"),
    [
        ("", ""),
        ("one", ""),
        ("one\n", ""),
        ("one\n\n", ""),
        ("one\n\ntwo", ""),
        ("one\n\ntwo\n", "one\n\n"),
        ("# one\ntwo\n", "# one\n"),
        ("one\n===\n\ntwo\n", "one\n===\n\n"),
        ("- one\n\n- two\n", ""),
        ("- one\n\ntwo\n", "- one\n\n"),
        ("```\na\n\nb\n", ""),
        ("```\na\n\nb\n```\n", ""),
        ("```\na\n```\ntwo\n", "```\na\n```\n"),
        ("text\n```\na\n", "text\n"),
        ("|a|\n|-|\n|b|\n", ""),
        ("|a|\n|-|\n|b|\n\ntwo\n", "|a|\n|-|\n|b|\n\n"),
        ("one\n\ntwo\n\nthree\n\nfour\n", "one\n\ntwo\n\nthree\n\n"),
        ("    a\n\n    b\n", ""),
        ("> a\n\n> b\n", "> a\n\n"),
        ("$$\na\n- b\n", ""),
        ("$$\na\n\n- b\n", "$$\na\n\n"),
        ("one\n\n\\[\na\n- b\n", "one\n\n"),
        ("$$\na\n$$\n- b\n", "$$\na\n$$\n"),
        ("[1]: http://a.b\n\ntwo\n", ""),
    ],
)
def test_all_blocks_but_the_last_are_closed_on_whole_lines(markdown: str, finished: str) -> None:
    assert markdown[: closed(markdown, 0)] == finished


def test_what_was_closed_is_not_looked_at_again() -> None:
    begin = len("one\n\n")
    assert closed("one\n\ntwo\n\nthree\n", begin) == len("one\n\ntwo\n\n")
    assert closed("one\n\ntwo\n", begin) == begin


LINES = [
    *"para|para two|# head|- a|- b|  - c|    - d|1. x|2. y|10. z|   cont|    code|> q|> > qq|>|> - l|lazy|```".split(
        "|"
    ),
    *"```python|x = 1|~~~|$$|a = b|+ c|$$ (1)|\\[|\\]|\\[ a=b \\]|$$ a $$|$$ a $$ text|---|***|===|- [ ] t".split("|"),
    *"- $$|  $$|> $$|<b>|<!--|  |* s|+ p|-|1)|`code|**bold|end**|line  |line\\|* * *|#|    |-   a|\\[ x".split("|"),
    *"y \\]|$x|y$|a $$|$$b|@".split("|"),
    *("a|b", "-|-", "|a|b|", "|-|-|", "|1|2|"),
]
MARKDOWN = st.lists(st.sampled_from(["", "", "", *LINES]), max_size=14).map(
    lambda lines: "\n".join(lines).replace("@", placeholder(0))
)


@pytest.mark.req("A-1")
@given(MARKDOWN, st.lists(st.integers(0, 10_000), max_size=12))
def test_the_blocks_of_the_pieces_are_the_blocks_of_the_whole(markdown: str, cuts: list[int]) -> None:
    """However the answer arrives: what is finished is rendered once, and never has to be rendered otherwise."""
    assume(not defines(markdown))
    citations = [citation()]
    begin = 0
    blocks: list[str] = []
    codes: list[str] = []
    for place in [*sorted(cut % (len(markdown) + 1) for cut in cuts), len(markdown)]:
        end = closed(markdown[:place], begin)
        piece = ONE.render(markdown[begin:end], citations, first_code=len(codes))
        blocks += piece.blocks
        codes += piece.codes
        begin = end
    rest = ONE.render(markdown[begin:], citations, first_code=len(codes))
    whole = ONE.render(markdown, citations)
    assert (*blocks, *rest.blocks) == whole.blocks
    assert (*codes, *rest.codes) == whole.codes


@given(MARKDOWN, st.integers(0, 10_000))
def test_the_finished_part_only_grows(markdown: str, cut: int) -> None:
    place = cut % (len(markdown) + 1)
    assert closed(markdown[:place], 0) <= closed(markdown, 0)
    assert closed(markdown, closed(markdown[:place], 0)) == closed(markdown, 0)


@pytest.mark.parametrize("markdown", ["[1]: http://a.b", "text\n  [^note]: more", "> [a]: b", "x\n\n[a b]:\nc"])
def test_a_definition_asks_for_the_whole_at_the_end(markdown: str) -> None:
    assert defines(markdown)


@pytest.mark.parametrize("markdown", ["text", "see [1]", "a [x]: y", "[x](y): z", "[\n]: a"])
def test_what_defines_nothing_does_not(markdown: str) -> None:
    assert not defines(markdown)
