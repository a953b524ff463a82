"""The offline assistant: searches with the real tools, quotes what it finds, and says that it does not reason."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from ...compaction.capacity import Capacity
from ...compaction.estimate import estimate_text
from ...compaction.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from ...compaction.projection import GO_ON, estimate_request
from ...sessions.language import Term, search_terms
from ...sessions.markdown import escaped
from ...sessions.usage import Usage
from ..port import ModelEvent, ModelRequest, StepFinished, TextDelta
from .quoting import Passage, Quote, choose_quotes, marks_around

NAME = "offline"
SEARCH_TOOL = "search_library"

_OPENING = "I am the offline assistant: I search your library and quote it, I do not reason."


class OfflineAssistant:
    """A model that answers a question by the sentences of the library that hold its words.

    Step one calls the search tool; step two quotes from its result, with the citation token the tool gave, the
    item's key, the printed page and the page index, and names the words that occur nowhere. The same request
    always gives the same answer, so that it serves the tests as their oracle.
    """

    @property
    def name(self) -> str:
        """`offline`."""
        return NAME

    @property
    def writes_summaries(self) -> bool:
        """It quotes the library and writes nothing of its own."""
        return False

    @property
    def capacity(self) -> Capacity:
        """A window like a small local model's, so that its chats are compacted like any other's."""
        return Capacity(context_window=32_768, max_output=4_096, window_known=True)

    async def prepare(self) -> None:
        """Nothing needs to be loaded."""

    async def close(self) -> None:
        """Nothing needs to be released."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Search first; answer from the result. Of an answer that is to be gone on with, what is missing of it."""
        messages, begun = _without_going_on(request.messages)
        question, results = _question_and_results(messages)
        tokens = estimate_request(request.system, request.tools, request.messages)
        can_search = any(tool.name == SEARCH_TOOL for tool in request.tools)
        if not results and can_search and search_terms(question):
            arguments = json.dumps({"query": question}, ensure_ascii=False)
            yield StepFinished("stop", (_call(arguments, len(messages)),), _usage(tokens, arguments))
            return
        written: list[str] = []
        for piece in _rest(_answer(question, results[-1] if results else None), begun):
            written.append(piece)
            yield TextDelta(piece)
            await asyncio.sleep(0)  # one piece a turn of the loop, as from a network
        yield StepFinished("stop", (), _usage(tokens, "".join(written)))


def _without_going_on(messages: Sequence[Message]) -> tuple[Sequence[Message], str]:
    """The messages without what asks to go on with an answer, and that answer's text so far; else "" for it."""
    match messages:
        case [*_, AssistantMessage(text=begun), UserMessage(text=text)] if text == GO_ON:
            return messages[:-1], begun
        case _:
            return messages, ""


def _rest(pieces: Sequence[str], begun: str) -> list[str]:
    """The pieces without the text that they begin with; all of them, in a paragraph of their own, behind another."""
    if not "".join(pieces).startswith(begun):
        return ["\n\n", *pieces]
    rest: list[str] = []
    for piece in pieces:
        rest.append(piece[len(begun) :])
        begun = begun[len(piece) :]
    return [piece for piece in rest if piece]


def _question_and_results(messages: Sequence[Message]) -> tuple[str, list[str]]:
    """The newest question that holds words to search (else the newest), and the tool results behind the newest."""
    newest = max((i for i, message in enumerate(messages) if isinstance(message, UserMessage)), default=-1)
    results = [message.text for message in messages[newest + 1 :] if isinstance(message, ToolMessage)]
    questions = [message.text for message in messages if isinstance(message, UserMessage)]
    calls = [
        call
        for message in messages[newest + 1 :]
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    ]
    if calls:
        arguments = json.loads(calls[-1].arguments)
        return str(arguments.get("query", "")), results
    return next((text for text in reversed(questions) if search_terms(text)), ""), results


def _call(arguments: str, step: int) -> ToolCall:
    """The call's id follows from its place and words: the same request gives the same answer to the byte."""
    digest = hashlib.blake2b(f"{step}\0{arguments}".encode("utf-8", "replace"), digest_size=6).hexdigest()
    return ToolCall(f"call_{digest}", SEARCH_TOOL, arguments)


def _usage(input_tokens: int, written: str) -> Usage:
    output = estimate_text(written)
    return Usage(
        input_tokens=input_tokens,
        output_tokens=output,
        turn_input_tokens=input_tokens,
        turn_output_tokens=output,
        real=True,
        cost=0.0,
    )


def _answer(question: str, result: str | None) -> list[str]:
    terms = search_terms(question)
    if not terms:
        return [f"{_OPENING} Your question holds no word to search for.\n"]
    found = _parsed(result)
    if found is None:
        return [f"{_OPENING} The search gave no result that I can read, so there is nothing to quote."]
    passages, nowhere, counts = found
    quotes = choose_quotes(passages, terms)
    if quotes:
        pieces = [f"{_OPENING} These sentences match your words best:\n"]
        pieces += [f"\n- {_quoted(quote, terms)}\n" for quote in quotes]
    else:
        pieces = [f"{_OPENING} I found no sentence to quote for {_listed([term.word for term in terms])}.\n"]
    if nowhere:
        pieces.append(f"\nFound nowhere in the text that could be searched: {_listed(nowhere)}.\n")
    unread = _unread(counts, complete=bool(quotes) and not nowhere)
    if unread:
        pieces.append(f"\nNot searched: {unread}.\n")
    return pieces


def _quoted(quote: Quote, terms: Sequence[Term]) -> str:
    passage = quote.passage
    facts = [f"item {passage.item}"] if passage.item else []
    if passage.page_index is not None:
        facts += [f"page label {escaped(passage.page_label)}"] if passage.page_label else ["no page label"]
        facts.append(f"page index {passage.page_index}")
    facts.append(f"{len(quote.terms)} of {len(terms)} words")
    opening, closing = marks_around(quote.text) or ("“", "”")
    return f"{opening}{escaped(quote.text)}{closing} {passage.cite} ({', '.join(facts)})"


def _listed(found: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in found)


def _unread(counts: Mapping[str, Any], *, complete: bool) -> str:
    """The files that a search cannot look into, in words; those without text only where it missed something."""
    kinds = [("files_not_indexed_yet", "not indexed yet")]
    if not complete:
        kinds.append(("files_without_text", "without text"))
    found = [(int(counts.get(name, 0)), words) for name, words in kinds]
    return ", ".join(f"{count} {'file' if count == 1 else 'files'} {words}" for count, words in found if count)


def _parsed(result: str | None) -> tuple[list[Passage], list[str], Mapping[str, Any]] | None:
    """Passages, words found nowhere and what was not searched, of a search result; None for anything else."""
    try:
        data: Any = json.loads(result or "")
        passages = [
            Passage(
                cite=str(each["cite"]),
                item=str(each.get("item", "")),
                text=str(each["quoted_text"]),
                kind=str(each.get("kind", "page")),
                page_label=str(each.get("quoted_page_label", "")),
                page_index=each.get("page_index"),
            )
            for each in data["passages"]
        ]
        nowhere = [str(word) for word in data.get("words_found_nowhere", ())]
        return passages, nowhere, dict(data.get("not_searched", {}))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
