"""A chat as Markdown."""

from __future__ import annotations

from ...sessions.markdown import escaped
from ...sessions.nodes import Node
from ...sessions.parts import FilePart, ImagePart, TextPart, ToolCallPart, ZoteroPart
from ...store.chats import Chat, Checkpoint, DamagedNode
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
    return [heading, "*Nothing is stored of it.*" if stored is None else str(stored.summary).strip()]


def _blocks(node: Node) -> list[str]:
    blocks: list[str] = []
    for part in node.parts:
        match part:
            case TextPart():
                blocks.append(text_markdown(part).strip())
            case ToolCallPart():
                blocks.append(f"*{_literal(part.name)}: {_literal(part.summary) or part.state}*")
            case ZoteroPart(title=title, citation=citation):
                blocks.append(f"*Attached: {_literal(citation or title)}*")
            case ImagePart(name=name, mime=mime) | FilePart(name=name, mime=mime):
                blocks.append(f"*Attached: {_literal(name or mime)}*")
            case _:
                continue
    return blocks


def minute(moment: str) -> str:
    """A time for people, in UTC."""
    return _literal(moment[:16].replace("T", " "))


def _literal(text: str) -> str:
    """What is no Markdown, in one line and as it is."""
    return escaped(one_line(text))
