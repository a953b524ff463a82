"""A summary that the app puts together without a model (D-12): what the messages themselves say, nothing concluded.

It holds the person's own words, what the answers cited, what was looked for and what failed. The offline assistant's
chats are compacted by it, and it is offered where a summariser fails for good.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..sessions.checkpoints import SECTIONS, Checkpoint
from ..sessions.citations import TOKEN
from ..sessions.language import sentences
from ..sessions.nodes import Node
from ..sessions.parts import TextPart, ToolCallPart, ZoteroPart
from .cutting import cut_middle
from .estimate import estimate_text
from .prompts import bodies
from .serialise import locator_text

LABEL = "[put together by BibGenie without a model]"
LONGEST_QUESTION = 600
"""Characters of a question that is quoted whole."""
LONGEST_PARAGRAPH = 700
LONGEST_LINE = 300
NONE = "None"

# Which share of the budget a section may take; what one leaves goes to none of the others, so that each stays readable.
_SHARES = {
    "Research Goal": 0.10,
    "User Requirements and Constraints": 0.32,
    "Research Progress": 0.05,
    "Findings and Evidence": 0.28,
    "Key Zotero Resources": 0.15,
    "Decisions": 0.02,
    "Next Steps": 0.02,
    "Critical Context": 0.06,
}


def deterministic_summary(nodes: Sequence[Node], previous: Checkpoint | None, *, budget: int) -> str:
    """The eight sections, from these messages and the summary before them, in about `budget` tokens.

    Of what does not fit, the newest is kept, and how much is left out is said.
    """
    before = bodies(previous.summary) if previous is not None else {}
    questions = [node for node in nodes if node.role == "user" and node.text.strip()]
    answers = [node for node in nodes if node.role == "assistant"]
    lines = {
        "Research Goal": _goal(questions, before),
        "User Requirements and Constraints": [_said(node) for node in questions],
        "Research Progress": [_progress(answers)],
        "Findings and Evidence": list(dict.fromkeys(line for node in answers for line in _findings(node))),
        "Key Zotero Resources": list(dict.fromkeys(line for node in nodes for line in _resources(node))),
        "Decisions": [],
        "Next Steps": [],
        "Critical Context": list(dict.fromkeys(line for node in answers for line in _context(node))),
    }
    written = []
    for name in SECTIONS:
        room = int(budget * _SHARES[name])
        earlier = [line for line in before.get(name, "").splitlines() if line.strip() and line.strip() != NONE]
        if name == "Research Goal":
            earlier = []
        body = _within([*earlier, *lines[name]], room) or NONE
        written.append(f"## {name}\n\n{LABEL + chr(10) if name == 'Critical Context' else ''}{body}")
    return "\n\n".join(written)


def _goal(questions: Sequence[Node], before: dict[str, str]) -> list[str]:
    """The first question of all; nobody but the person says what the goal is."""
    if known := before.get("Research Goal", "").strip():
        return [] if known == NONE else known.splitlines()
    return [f"[user] {_quoted(questions[0].text)}"] if questions else []


def _said(node: Node) -> str:
    return f"- [user] {node.created_at[:10]}: {_quoted(node.text)}"


def _quoted(text: str) -> str:
    return f"“{' '.join(cut_middle(text, LONGEST_QUESTION).split())}”"


def _progress(answers: Sequence[Node]) -> str:
    whole = sum(node.stop_reason == "stop" for node in answers)
    ended = f", {len(answers) - whole} ended early" if whole < len(answers) else ""
    return f"- {len(answers)} questions answered{ended}."


def _findings(node: Node) -> Iterable[str]:
    """What of an answer cites something, as it stands: a paragraph, or the sentences of a long one."""
    for part in node.parts:
        if not isinstance(part, TextPart):
            continue
        labels = {citation.token: f"{citation.label}, {citation.state}" for citation in part.citations}
        for paragraph in part.text.split("\n"):
            tokens = [match.group() for match in TOKEN.finditer(paragraph)]
            if not tokens:
                continue
            if len(paragraph) > LONGEST_PARAGRAPH:
                paragraph = " ".join(each for each in sentences(paragraph) if TOKEN.search(each))
            named = "; ".join(dict.fromkeys(labels.get(token, "unchecked") for token in tokens))
            yield f"- [inferred] {' '.join(cut_middle(paragraph.strip('-* '), LONGEST_PARAGRAPH).split())} ({named})"


def _resources(node: Node) -> Iterable[str]:
    for part in node.parts:
        match part:
            case TextPart(citations=citations):
                for citation in citations:
                    if citation.locator is not None:
                        yield f"- {citation.short_ref}: {citation.token}, {locator_text(citation.locator)}"
            case ZoteroPart(title=title, locator=locator):
                yield f"- {title[:LONGEST_LINE]}: {locator_text(locator)}"
            case _:
                continue


def _context(node: Node) -> Iterable[str]:
    """What failed, was denied, or found nothing."""
    for part in node.parts:
        if isinstance(part, ToolCallPart) and part.state in ("error", "denied", "cancelled"):
            yield f"- [tool] {part.name} {part.arguments[:LONGEST_LINE]}: {part.state}, {part.summary[:LONGEST_LINE]}"
        elif isinstance(part, ToolCallPart) and '"passages":[]' in part.result.replace(" ", ""):
            yield f"- [tool] {part.name} {part.arguments[:LONGEST_LINE]}: nothing found"


def _within(lines: Sequence[str], room: int) -> str:
    """The newest lines that fit, in their order, and how many do not."""
    kept: list[str] = []
    used = 0
    for line in reversed(lines):
        used += estimate_text(line) + 1
        if used > room and kept:
            break
        kept.append(line)
    left = len(lines) - len(kept)
    return "\n".join([*([f"- […] {left} earlier entries left out"] if left else []), *reversed(kept)])
