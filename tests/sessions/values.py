"""Strategies for the values of `sessions`, and branches made of them."""

from __future__ import annotations

from typing import Any, get_args

from hypothesis import strategies as st

from bibgenie_desktop.sessions.citations import Citation
from bibgenie_desktop.sessions.locators import (
    LARGEST_GROUP_ID,
    AnnotationLocator,
    ItemLocator,
    ItemRef,
    LibraryRef,
    PageLocator,
    SectionLocator,
)
from bibgenie_desktop.sessions.nodes import Node
from bibgenie_desktop.sessions.parts import (
    FilePart,
    ImagePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolState,
    ZoteroPart,
)
from bibgenie_desktop.sessions.usage import Usage

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(
    st.text(max_size=8), st.none() | st.booleans() | st.integers() | st.text(max_size=8), max_size=3
)

keys = st.from_regex(r"[A-Z0-9]{8}", fullmatch=True)
libraries = st.builds(LibraryRef, st.integers(0, LARGEST_GROUP_ID) | st.just(0))
refs = st.builds(ItemRef, libraries, keys)
indices = st.integers(0, 999_999)
words = st.text(max_size=20)

locators = st.one_of(
    st.builds(ItemLocator, refs),
    st.builds(PageLocator, refs, indices, words, st.booleans()),
    st.builds(SectionLocator, refs, indices, words, words, words),
    st.builds(AnnotationLocator, refs, refs, st.none() | indices, words),
)
citations = st.builds(
    Citation,
    words,
    st.sampled_from(["verified", "unverified", "wrong"]),
    words,
    st.none() | locators,
    words,
    words,
)
usages = st.builds(
    Usage,
    *[st.integers(0)] * 8,
    st.booleans(),
    st.none() | words,
    st.none() | st.floats(0, allow_nan=False, allow_infinity=False),
)

states: st.SearchStrategy[ToolState] = st.sampled_from(get_args(ToolState))
texts = st.builds(TextPart, words, st.lists(citations, max_size=2).map(tuple))
reasonings = st.builds(ReasoningPart, words, json_objects)
calls = st.builds(
    ToolCallPart,
    call_id=words,
    name=words,
    arguments=words,
    state=states,
    result=words,
    step=indices,
    delivered=st.lists(locators, max_size=2).map(tuple),
    summary=words,
    duration_ms=indices,
    replay=json_objects,
)
images = st.builds(ImagePart, words, words, words)
files = st.builds(FilePart, words, words, words)
attached = st.builds(ZoteroPart, locators, words, words, st.none() | refs)
parts: st.SearchStrategy[Part] = st.one_of(texts, reasonings, calls, images, files, attached)


@st.composite
def answers(draw: st.DrawFn) -> tuple[Part, ...]:
    """The parts of an answer as a turn stores them: steps of reasoning, text and parallel calls.

    A call may have been cut off before it gave a result, texts may be empty, and a turn that was stopped ends
    anywhere. The ids of the calls are unique, as a provider's are.
    """
    made: list[Part] = []
    number = draw(st.integers(0, 1_000_000))
    for step in range(draw(st.integers(0, 4))):
        if draw(st.booleans()):
            made.append(ReasoningPart(f"thought {number}.{step}"))
        if draw(st.booleans()):
            made.append(TextPart(draw(st.sampled_from(["", "  ", "\n", f"text {number}.{step}", "漢字", "a\n\nb"]))))
        for position in range(draw(st.integers(0, 3))):
            state = draw(states)
            result = "" if state == "pending" else draw(st.sampled_from(["", " ", "{}", f"result {number}.{step}"]))
            made.append(ToolCallPart(f"call_{number}_{step}_{position}", "search", "{}", state, result, step))
    if draw(st.booleans()):
        made.append(TextPart(draw(st.sampled_from(["", f"end {number}"]))))
    return tuple(made)


@st.composite
def branches(draw: st.DrawFn) -> list[Node]:
    """A branch that the store would hold: questions, some without an answer, and answers, each behind a question."""
    nodes: list[Node] = []

    def append(role: Any, made: tuple[Part, ...]) -> None:
        parent = nodes[-1].id if nodes else None
        nodes.append(Node(f"n{len(nodes)}", parent, role, made, "2026-11-30T18:50:48.123Z"))

    for turn in range(draw(st.integers(0, 5))):
        question: list[Part] = [TextPart(f"question {turn}")]
        if draw(st.booleans()):
            question.append(draw(st.one_of(images, files, attached)))
        append("user", tuple(question))
        if draw(st.booleans()):
            append("assistant", draw(answers()))
    return nodes
