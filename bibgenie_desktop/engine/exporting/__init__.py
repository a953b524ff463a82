"""A chat as a file: Markdown and HTML for people, JSON that can be imported again (T-5, T-8)."""

from __future__ import annotations

from ...protocol.commands import ExportFormat
from ...sessions.text import well_formed
from ...store.chats import Chat
from .json_file import chat_json
from .markdown import chat_markdown


def chat_file(chat: Chat, format: ExportFormat, *, checkpoints: bool = False) -> str:
    """The chat in a format, with every message that `chat` holds: other branches follow the active one.

    `checkpoints` shows what stands for older messages where a chat was compacted; JSON holds them in any case. What
    cannot be read is named in its place.
    """
    if format == "json":
        return well_formed(chat_json(chat))
    if format == "md":
        return well_formed(chat_markdown(chat, checkpoints=checkpoints))
    from .html import chat_html  # the parser of Markdown is loaded for the first page alone

    return well_formed(chat_html(chat, checkpoints=checkpoints))
