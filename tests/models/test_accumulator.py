"""Streamed answers are put together right, however a provider splits them (A-1, stack-facts A1 and A4)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.models.accumulator import Accumulator, ToolCallDelta

Delta = ToolCallDelta


def _ids() -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"minted-{next(numbers)}"


def _calls(*chunks: list[Delta], finish: str = "tool_calls") -> list[tuple[str, str, str]]:
    step = Accumulator(_ids())
    for chunk in chunks:
        step.add_tool_calls(chunk)
    step.finish(finish)
    return [(call.call_id, call.name, call.arguments) for call in step.tool_calls()]


TWO = [("c1", "search", '{"query": "a"}'), ("c2", "item", '{"key": "b"}')]


@pytest.mark.req("A-1")
def test_pieces_of_one_call_are_joined_by_their_index() -> None:
    assert _calls(
        [Delta(0, "c1", "search", "")], [Delta(0, None, None, '{"query"')], [Delta(0, None, None, ': "a"}')]
    ) == [TWO[0]]


@pytest.mark.req("A-1")
def test_parallel_calls_are_kept_apart_by_their_index_even_when_interleaved() -> None:
    assert (
        _calls(
            [Delta(0, "c1", "search", '{"query"'), Delta(1, "c2", "item", '{"key"')],
            [Delta(1, None, None, ': "b"}')],
            [Delta(0, None, None, ': "a"}')],
        )
        == TWO
    )


@pytest.mark.req("A-5")
def test_another_id_at_the_same_index_is_another_call() -> None:
    assert (
        _calls(
            [Delta(0, "c1", "search", '{"query"')],
            [Delta(0, None, None, ': "a"}')],
            [Delta(0, "c2", "item", '{"key"')],
            [Delta(0, None, None, ': "b"}')],
        )
        == TWO
    )


@pytest.mark.req("A-5")
def test_interleaved_calls_that_share_an_index_are_told_apart_by_their_repeated_ids() -> None:
    assert (
        _calls(
            [Delta(0, "c1", "search", '{"query"')],
            [Delta(0, "c2", "item", '{"key"')],
            [Delta(0, "c1", None, ': "a"}')],
            [Delta(0, "c2", None, ': "b"}')],
        )
        == TWO
    )


@pytest.mark.req("A-5")
@pytest.mark.parametrize("index", [None, 0])
def test_whole_calls_without_id_get_minted_ids(index: int | None) -> None:
    """In one chunk or in two, with no index at all or all at index 0."""
    first, second = Delta(index, None, "search", '{"query": "a"}'), Delta(index, None, "item", '{"key": "b"}')
    expected = [("minted-1", *TWO[0][1:]), ("minted-2", *TWO[1][1:])]
    assert _calls([first, second]) == expected
    assert _calls([first], [second]) == expected


@pytest.mark.req("A-5")
def test_two_calls_of_one_tool_without_arguments_ids_or_indexes_stay_two() -> None:
    assert _calls([Delta(None, None, "list"), Delta(None, None, "list")]) == [
        ("minted-1", "list", "{}"),
        ("minted-2", "list", "{}"),
    ]


@pytest.mark.req("A-5")
def test_a_call_without_index_and_id_goes_on_until_another_name_comes() -> None:
    assert _calls(
        [Delta(None, None, "search", '{"query"')],
        [Delta(None, None, None, ': "a"}')],
        [Delta(None, None, "item", '{"key"')],
        [Delta(None, None, "item", ': "b"}')],
    ) == [("minted-1", *TWO[0][1:]), ("minted-2", *TWO[1][1:])]


@pytest.mark.req("A-5")
def test_ids_and_names_repeated_with_every_piece_are_not_joined() -> None:
    assert _calls(
        [Delta(0, "c1", "search", "")], [Delta(0, "c1", "search", '{"query"')], [Delta(0, "c1", "search", ': "a"}')]
    ) == [TWO[0]]


@pytest.mark.req("A-5")
@pytest.mark.parametrize("call_id", ["c1", None])
@pytest.mark.parametrize("repeated", ['{"query": "a"}', json.dumps('{"query": "a"}')])
def test_a_last_piece_that_repeats_all_arguments_is_ignored(call_id: str | None, repeated: str) -> None:
    assert _calls(
        [Delta(0, "c1", "search", '{"query": ')],
        [Delta(0, None, None, '"a"}')],
        [Delta(0, call_id, "search", repeated)],
    ) == [TWO[0]]


@pytest.mark.req("A-5")
def test_arguments_encoded_twice_are_decoded_once() -> None:
    assert _calls([Delta(0, "c1", "search", json.dumps('{"query": "a"}'))]) == [TWO[0]]


@pytest.mark.req("A-5")
def test_an_empty_object_before_the_arguments_is_only_an_opening() -> None:
    assert _calls([Delta(0, "c1", "search", "{}")], [Delta(0, None, None, '{"query": "a"}')]) == [TWO[0]]


@pytest.mark.req("A-5")
def test_an_id_that_comes_late_belongs_to_the_call_at_its_index() -> None:
    assert _calls([Delta(0, None, "search", '{"query"')], [Delta(0, "c1", None, ': "a"}')]) == [TWO[0]]


@pytest.mark.req("A-5")
def test_a_name_in_pieces_is_joined() -> None:
    assert _calls([Delta(0, "c1", "sea")], [Delta(0, None, "rch")], [Delta(0, None, None, '{"query": "a"}')]) == [
        TWO[0]
    ]


@pytest.mark.req("A-5")
def test_a_piece_whose_index_was_lost_goes_to_the_call_that_is_not_complete() -> None:
    """litellm counts a missing index from 0, where the complete call stands."""
    assert (
        _calls(
            [Delta(0, "c1", "search", '{"query": "a"}')],
            [Delta(1, "c2", "item", '{"key"')],
            [Delta(0, None, None, ': "b"}')],
        )
        == TWO
    )


@pytest.mark.req("A-5")
def test_one_id_for_two_calls_is_not_kept_for_both() -> None:
    assert _calls([Delta(0, "c1", "search", '{"query": "a"}'), Delta(1, "c1", "item", '{"key": "b"}')]) == [
        TWO[0],
        ("minted-1", *TWO[1][1:]),
    ]


@pytest.mark.req("A-5")
def test_malformed_arguments_are_passed_on_as_they_are_and_missing_ones_are_an_empty_object() -> None:
    assert _calls([Delta(0, "c1", "search", '{"query": ')], [Delta(1, "c2", "list", None)]) == [
        ("c1", "search", '{"query":'),
        ("c2", "list", "{}"),
    ]


@pytest.mark.req("A-5")
def test_a_call_without_a_name_is_dropped() -> None:
    assert _calls([Delta(0, "c1", None, "{}")]) == []


@pytest.mark.req("A-5")
@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_calls_of_an_answer_that_was_cut_off_are_dropped(finish: str) -> None:
    """Their arguments may look complete and still lack a part."""
    assert _calls([Delta(0, "c1", "search", '{"query": "a"}')], finish=finish) == []


@pytest.mark.req("A-5")
@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("stop", "stop"),
        ("tool_calls", "stop"),
        ("function_call", "stop"),
        ("anything", "stop"),
        ("length", "length"),
        ("content_filter", "content_filter"),
    ],
)
def test_finish_reasons_are_mapped_to_the_closed_set(said: str, meant: str) -> None:
    step = Accumulator(_ids())
    step.finish(said)
    assert step.reason == meant


@pytest.mark.req("A-1")
def test_characters_cut_in_halves_are_shown_when_they_are_whole() -> None:
    step = Accumulator(_ids())
    assert [step.add_text(piece) for piece in ("a\ud83d", "\ude00b", "\ude00", "\ud83d")] == ["a", "😀b", "\ufffd", ""]
    assert step.text == "a😀b\ufffd"
    assert step.add_reasoning("\ud83d\ude00") == "😀"


def _pieces(text: str, cuts: list[int]) -> list[str]:
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[start:end] for start, end in itertools.pairwise(places)]


ARGUMENTS = st.dictionaries(st.text(max_size=4), st.one_of(st.integers(), st.text(max_size=6), st.none()), min_size=1)


@pytest.mark.req("A-1", "A-5")
@given(
    st.lists(
        st.tuples(st.sampled_from(["search", "item", "list"]), ARGUMENTS, st.lists(st.integers(0, 60))), max_size=4
    ),
    st.randoms(use_true_random=False),
    st.booleans(),
)
def test_any_split_and_any_interleaving_gives_the_same_calls(
    calls: list[tuple[str, dict[str, object], list[int]]], random: object, repeat_ids: bool
) -> None:
    """Law: with an id at each call's first piece and an index at every piece, splitting changes nothing."""
    queues: list[list[Delta]] = []
    for index, (name, arguments, cuts) in enumerate(calls):
        pieces = _pieces(json.dumps(arguments), cuts)
        queue = [Delta(index, f"c{index}", name, "")]
        queue += [Delta(index, f"c{index}" if repeat_ids else None, None, piece) for piece in pieces]
        queues.append(queue)
    chunks: list[list[Delta]] = []
    while queues := [queue for queue in queues if queue]:
        chunks.append([random.choice(queues).pop(0)])  # type: ignore[attr-defined]
    got = {call_id: (name, json.loads(arguments)) for call_id, name, arguments in _calls(*chunks)}
    assert got == {f"c{index}": (name, arguments) for index, (name, arguments, _) in enumerate(calls)}


@pytest.mark.req("A-1")
@given(st.text(), st.lists(st.integers(0, 200)))
def test_any_split_of_utf16_gives_the_same_text(text: str, cuts: list[int]) -> None:
    """Law: pieces cut between the halves of a character add up to the text, and none that is shown holds a half."""
    halves = "".join(map(chr, memoryview(text.encode("utf-16-le")).cast("H")))
    step = Accumulator(_ids())
    shown = [step.add_text(piece) for piece in _pieces(halves, cuts)]
    assert "".join(shown) == step.text == text
    assert all(piece.encode() is not None for piece in shown)
