"""A chat as Markdown."""

from __future__ import annotations

from ...sessions.checkpoints import Checkpoint
from ...sessions.markdown import escaped, unlinked
from ...sessions.nodes import Node
from ...sessions.parts import FilePart, ImagePart, TextPart, ToolCallPart, ZoteroPart
from ...store.chats import Chat, DamagedNode
from ..markdown import text_markdown
from ..views import one_line
from .outline import AnyNode, sections


def chat_markdown(chat: Chat, *, checkpoints: bool) -> str:
    """The chat as a person reads it; citations are links, tool calls one line each, reasoning is left out.

    Questions and answers stand as they were written, which is Markdown.
    """
    blocks = [f"# {_literal(chat.session.title)}"]
    if chat.damage:
        blocks.append(f"*This chat is damaged: {_literal(chat.damage)}. What can be read stands here.*")
    for section in sections(chat):
        if section.label:
            blocks += ["---", f"# {_literal(section.label)}"]
        for node in section.nodes:
            blocks += _message(node, chat, checkpoints)
    return "\n\n".join(blocks) + "\n"


def _message(node: AnyNode, chat: Chat, checkpoints: bool) -> list[str]:
    if isinstance(node, DamagedNode):
        return [f"*The message {_literal(node.id)} cannot be read: {_literal(node.reason)}.*"]
    when = minute(node.created_at)
    if node.role == "checkpoint":
        return _checkpoint(chat.checkpoints.get(node.id), when) if checkpoints else []
    who = "You" if node.role == "user" else _literal(node.model or "Assistant")
    blocks = [f"## {who} · {when}", *_blocks(node)]
    if node.stop_reason not in (None, "stop"):
        blocks.append(f"*The answer ended early: {node.stop_reason}.*")
    return blocks


def _checkpoint(stored: Checkpoint | None, when: str) -> list[str]:
    heading = f"## Checkpoint: what stood for the messages before it · {when}"
    if stored is None:
        return [heading, "*Nothing is stored of it.*"]
    return [heading, _closed(unlinked(str(stored.summary)).strip())]


def _blocks(node: Node) -> list[str]:
    blocks: list[str] = []
    for part in node.parts:
        match part:
            case TextPart():
                blocks.append(_closed(text_markdown(part).strip()))
            case ToolCallPart():
                blocks.append(f"*{_literal(part.name)}: {_literal(part.summary) or part.state}*")
            case ZoteroPart(title=title, citation=citation):
                blocks.append(f"*Attached: {_literal(citation or title)}*")
            case ImagePart(name=name, mime=mime) | FilePart(name=name, mime=mime):
                blocks.append(f"*Attached: {_literal(name or mime)}*")
            case _:
                continue
    return blocks


def _closed(markdown: str) -> str:
    """`markdown` with its last block of code ended: an open one would swallow the messages that follow."""
    if "```" not in markdown and "~~~" not in markdown:
        return markdown
    from .html_body import missing_fence  # the parser of Markdown is loaded where there is code alone

    fence = missing_fence(markdown)
    return f"{markdown}\n{fence}" if fence else markdown


def minute(moment: str) -> str:
    """A time for people, in UTC."""
    return _literal(moment[:16].replace("T", " "))


def _literal(text: str) -> str:
    """What is no Markdown, in one line and as it is."""
    return escaped(one_line(text))
