"""What a model says in one step while it streams, and how stored parts are told like a stream (A-1, T-6)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from ...protocol.events import AnswerCitation, AnswerReasoning, AnswerText, Event, ToolFinished, ToolStarted
from ...sessions.citations import Citation, parse_token
from ...sessions.locators import locator_to_json
from ...sessions.parts import Part, ReasoningPart, TextPart, ToolCallPart
from ..views import LONGEST_DETAIL, link_to, one_line, text_pieces
from .citations import TokenSplitter
from .tools import call_title
from .tools.tool import cut

LONGEST_NAME = 100
"""Characters of a tool's or a call's name that are told."""


class StepInProgress:
    """What a model says in one step. `begun` is the kept text of an answer that is gone on with in this step."""

    def __init__(self, begun: TextPart | None = None) -> None:
        self.splitter = TokenSplitter()
        self.waiting: deque[str] = deque()
        """Pieces from the splitter that were not told yet."""
        self.parts: list[str] = []
        self.text_before_group = ""
        """The text before the newest citations that stand side by side."""
        self.cited = 0
        """How many of the parts lie before the end of the last citation."""
        self.citations: list[Citation] = []
        self.thoughts: list[str] = []
        if begun is not None:
            self._begin(begun)

    @property
    def text_since_citation(self) -> str:
        """What was said behind the last citation."""
        return "".join(self.parts[self.cited :])

    def kept(self) -> list[Part]:
        """What was told so far, as parts of the answer."""
        parts: list[Part] = []
        if self.thoughts:
            parts.append(ReasoningPart("".join(self.thoughts)))
        text = "".join(self.parts)
        if text.strip():
            parts.append(TextPart(text, tuple(self.citations)))
        return parts

    def _begin(self, begun: TextPart) -> None:
        """Stand where the text ended: the half of a token at its end waits for its other half."""
        checked = list(begun.citations)
        for piece in self.splitter.feed(begun.text):
            self.parts.append(piece)
            if parse_token(piece) is not None:
                is_checked = bool(checked) and checked[0].token == piece
                self.citations.append(checked.pop(0) if is_checked else cut_off(piece))
                self.cited = len(self.parts)


def cut_off(token: str) -> Citation:
    """The citation of a token that came too late to be checked."""
    target = parse_token(token)
    label = "?" if target is None else target.ref.key
    return Citation(token, "unverified", label, reason="the answer was cut off before it was checked")


def citation_event(session_id: str, citation: Citation) -> AnswerCitation:
    """A citation as it is told to a window or a terminal."""
    return AnswerCitation(
        session_id,
        one_line(citation.label),
        link_to(citation.locator),
        citation.state,
        citation.reason,
        citation.quote[:LONGEST_DETAIL],
        None if citation.locator is None else locator_to_json(citation.locator),
    )


def told(session_id: str, parts: Sequence[Part]) -> Iterator[Event]:
    """The events that kept parts were told by; half a token at the end of the last text is still to be told."""
    for number, part in enumerate(parts, 1):
        match part:
            case TextPart():
                said = StepInProgress(part)
                yield from _text_told(session_id, said, [] if number == len(parts) else said.splitter.flush())
            case ReasoningPart(text=text):
                yield from (AnswerReasoning(session_id, piece) for piece in text_pieces(text))
            case ToolCallPart():
                call_id, title = part.call_id[:LONGEST_NAME], one_line(call_title(part.name, part.arguments))
                yield ToolStarted(session_id, call_id, cut(part.name, LONGEST_NAME), title)
                summary = part.summary[:LONGEST_DETAIL]
                yield ToolFinished(session_id, call_id, part.state, summary, part.duration_ms)
            case _:
                continue


def _text_told(session_id: str, said: StepInProgress, rest: list[str]) -> Iterator[Event]:
    citations = iter(said.citations)
    for part in (*said.parts, *rest):
        citation = None if parse_token(part) is None else next(citations, None)
        if citation is not None:
            yield citation_event(session_id, citation)
        else:
            yield from (AnswerText(session_id, piece) for piece in text_pieces(part))
