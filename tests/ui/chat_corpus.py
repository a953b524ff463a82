"""A research chat of any length, for tests and benchmarks: always the same, in Markdown with citations."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

from bibgenie_desktop.protocol.values import Segment
from bibgenie_desktop.sessions.citations import CitationState
from bibgenie_desktop.sessions.nodes import Role
from bibgenie_desktop.ui.chat.conversation import Conversation
from bibgenie_desktop.ui.chat.message import Message

_WORDS = (
    "observer effort varies with season place road bias sample record site model covariate species citizen survey data "
    "method result page claim evidence passage figure table author study review estimate error trend count detection "
    "protocol training volunteer region habitat range year first second between within therefore however although"
).split()
_QUESTION, _ANSWER, _ANSWER_SPREAD = 219, 1464, 0.746
"""Median lengths in characters, and the spread that puts the longest twentieth of the answers above 5,000."""
LONGEST_ANSWER = 12_000


def conversation(count: int, seed: int = 7) -> Conversation:
    """A stored chat of `count` messages, questions and answers in turn."""
    chance = random.Random(seed)
    chat = Conversation(f"corpus-{count}", "Sampling bias")
    for number in range(count):
        role: Role = "assistant" if number % 2 else "user"
        message = Message(role, node_id=f"n{number}", created_at="2026-01-01T12:00:00+00:00", model="offline")
        for segment in answer(chance) if role == "assistant" else question(chance):
            message.add(segment)
        chat.messages.append(message)
    chat.loaded = True
    return chat


def question(chance: random.Random) -> Iterator[Segment]:
    """A question: some sentences."""
    length = chance.lognormvariate(math.log(_QUESTION), 0.4)
    yield Segment("text", _sentences(chance, round(length)))


def answer(chance: random.Random, length: int = 0) -> Iterator[Segment]:
    """An answer: a tool call, then blocks of all kinds with citations in the paragraphs."""
    length = length or round(min(LONGEST_ANSWER, chance.lognormvariate(math.log(_ANSWER), _ANSWER_SPREAD)))
    yield Segment("tool", "Search the library for “observer effort”", state="done", detail="12 passages")
    while length > 0:
        text = _block(chance, min(length, 420))
        yield Segment("text", text)
        length -= len(text)
        if text.endswith(".") and chance.random() < 0.6:
            state: CitationState = chance.choice(("verified", "verified", "unverified", "wrong"))
            yield Segment("citation", "Hale 2010, p. 152", "zotero://open-pdf/library/items/ABCD2345", state, "effort")
        yield Segment("text", "\n\n")


def _block(chance: random.Random, length: int) -> str:
    kind = chance.choices(("paragraph", "list", "table", "code", "quote", "formula", "heading"), (9, 4, 2, 2, 1, 1, 2))[
        0
    ]
    match kind:
        case "heading":
            return f"## {_sentences(chance, 30)}\n\n{_sentences(chance, length)}"
        case "list":
            items = [f"- **{chance.choice(_WORDS)}**: {_sentences(chance, 55)}" for _ in range(max(2, length // 70))]
            return "\n".join(f"    {item}" if number % 3 == 2 else item for number, item in enumerate(items))
        case "table":
            rows = [f"| {' | '.join(chance.choice(_WORDS) for _ in range(3))} |" for _ in range(max(2, length // 60))]
            return "\n".join([rows[0], "| --- | --- | --- |", *rows[1:]])
        case "code":
            lines = [
                f"    {chance.choice(_WORDS)} = {chance.randrange(100)}  # {chance.choice(_WORDS)}" for _ in range(8)
            ]
            return "\n".join(["```python", "def estimate(records):", *lines, "    return model", "```"])
        case "quote":
            return f"> {_sentences(chance, min(length, 200))}"
        case "formula":
            return "$$\\hat{\\beta} = (X^T X)^{-1} X^T y$$"
        case _:
            return _sentences(chance, length)


def _sentences(chance: random.Random, length: int) -> str:
    words: list[str] = []
    size = 0
    while size < length:
        word = chance.choice(_WORDS)
        if chance.random() < 0.06:
            word = chance.choice((f"**{word}**", f"*{word}*", f"`{word}`", f"${word[0]}^2$"))
        words.append(word)
        size += len(word) + 1
    return " ".join(words).capitalize() + "."
