"""A chat as one HTML page that holds all it needs: it loads nothing, runs nothing, and can be printed (S-1)."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape

from ...sessions.nodes import Node
from ...sessions.parts import FilePart, ImagePart, TextPart, ToolCallPart, ZoteroPart
from ...store.chats import Chat, DamagedNode
from ..agent.tools import call_title
from ..views import link_to, one_line
from .html_body import markdown_html, text_html
from .outline import AnyNode, Section, sections

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

_STYLE = """
:root { color-scheme: light dark; --ink: #1d1d1f; --paper: #ffffff; --faint: #5c5c61; --line: #d9d9de;
  --question: #f2f3f5; --link: #0b57d0; --doubt: #8a5300; --wrong: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e8; --paper: #18181a; --faint: #a4a4aa; --line: #3a3a3e;
    --question: #242427; --link: #8ab4f8; --doubt: #e6b566; --wrong: #f2a29b; } }
body { margin: 0 auto; max-width: 46rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.2rem; border-top: 1px solid var(--line);
  margin-top: 3rem; padding-top: 1rem; } h3, h4, h5, h6 { font-size: 1.05rem; }
header p, .when, .note, .target, small { color: var(--faint); font-size: .85rem; }
article { margin: 1.25rem 0; } article.user { background: var(--question); border-radius: .6rem;
  padding: .25rem 1rem; } article > h3 { font-size: .9rem; margin: .75rem 0 0; }
p, li, h3, h4, h5, h6, th, td, pre { unicode-bidi: plaintext; text-align: start; }
article.checkpoint { border-left: 3px solid var(--line); padding-left: 1rem; }
a { color: var(--link); } .cite.unverified a, .cite.unverified { color: var(--doubt); }
.cite.wrong a, .cite.wrong, .damage { color: var(--wrong); } .target { overflow-wrap: anywhere; }
pre { background: var(--question); border-radius: .4rem; padding: .75rem; white-space: pre-wrap; }
code { font-family: ui-monospace, monospace; font-size: .9em; } img { max-width: 100%; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; }
.center { text-align: center; } .right { text-align: right; }
blockquote { border-left: 3px solid var(--line); margin-left: 0; padding-left: 1rem; }
@media print { :root { --ink: #000; --paper: #fff; --faint: #444; --line: #bbb; --question: #fff; --link: #000;
  --doubt: #000; --wrong: #000; } body { max-width: none; padding: 0; font-size: 10.5pt; }
  article.user { border: 1px solid var(--line); } h1, h2, h3 { break-after: avoid; }
  pre, table, img { break-inside: avoid; } table { display: table; } }
"""


def chat_html(chat: Chat, *, checkpoints: bool) -> str:
    """The page. Its policy lets the browser load nothing and run nothing; the only style is the one in it."""
    style = b64encode(sha256(_STYLE.encode()).digest()).decode("ascii")
    policy = f"default-src 'none'; img-src data:; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'"
    title = escape(one_line(chat.session.title))
    dates = f"{_minute(chat.session.created_at)} to {_minute(chat.session.updated_at)} (UTC)"
    damage = (
        f'<p class="damage">This chat is damaged: {escape(one_line(chat.damage))}. What can be read stands here.</p>\n'
        if chat.damage
        else ""
    )
    body = "".join(_section(section, chat, checkpoints) for section in sections(chat))
    return (
        f'<!DOCTYPE html>\n<html lang="und">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f'<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<header>\n<h1 dir="auto">{title}</h1>\n'
        f"<p>{dates}</p>\n{damage}</header>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )


def _section(section: Section, chat: Chat, checkpoints: bool) -> str:
    heading = f'<h2 dir="auto">{escape(section.label)}</h2>\n' if section.label else ""
    body = "".join(_message(node, chat, checkpoints) for node in section.nodes)
    return f"<section>\n{heading}{body}</section>\n"


def _message(node: AnyNode, chat: Chat, checkpoints: bool) -> str:
    if isinstance(node, DamagedNode):
        reason = f"The message {escape(one_line(node.id))} cannot be read: {escape(one_line(node.reason))}."
        return f'<article><p class="damage">{reason}</p></article>\n'
    if node.role == "checkpoint":
        return _checkpoint(node, chat) if checkpoints else ""
    who = "You" if node.role == "user" else escape(one_line(node.model or "Assistant"))
    end = ""
    if node.stop_reason not in (None, "stop"):
        end = f'<p class="note">The answer ended early: {node.stop_reason}.</p>\n'
    return _article(node, who, "".join(_parts(node, chat)) + end)


def _checkpoint(node: Node, chat: Chat) -> str:
    stored = chat.checkpoints.get(node.id)
    body = '<p class="note">Nothing is stored of it.</p>\n' if stored is None else markdown_html(str(stored.summary))
    return _article(node, "Checkpoint: what stood for the messages before it", body)


def _article(node: Node, who: str, body: str) -> str:
    when = f'<span class="when">· {_minute(node.created_at)}</span>'
    return f'<article class="{node.role}">\n<h3>{who} {when}</h3>\n{body}</article>\n'


def _parts(node: Node, chat: Chat) -> list[str]:
    found: list[str] = []
    for part in node.parts:
        match part:
            case TextPart():
                found.append(text_html(part))
            case ToolCallPart():
                title = one_line(call_title(part.name, part.arguments))
                found.append(_note(f"{title}: {one_line(part.summary) or part.state}"))
            case ZoteroPart(title=title, citation=citation, locator=locator):
                name, link = escape(one_line(citation or title)), escape(link_to(locator))
                shown = f'<a href="{link}">{name}</a>' if link else name
                found.append(f'<p class="note">Attached: {shown}</p>\n')
            case ImagePart(name=name, mime=mime):
                found.append(_picture(part, chat) + _note(f"Attached: {one_line(name or mime)}"))
            case FilePart(name=name, mime=mime):
                found.append(_note(f"Attached: {one_line(name or mime)}"))
            case _:
                continue
    return found


def _picture(part: ImagePart, chat: Chat) -> str:
    data = next((blob.data for blob in chat.blobs if blob.id == part.blob_id), None)
    if data is None or part.mime not in _PICTURES:
        return ""
    alt = escape(one_line(part.name or part.mime))
    return f'<p><img alt="{alt}" src="data:{part.mime};base64,{b64encode(data).decode("ascii")}"></p>\n'


def _note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>\n'


def _minute(moment: str) -> str:
    return escape(one_line(moment[:16].replace("T", " ")))
