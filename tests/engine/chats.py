"""Whole chats for tests of files that leave and come: with branches, checkpoints, attachments, notes."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from bibgenie_desktop.sessions.checkpoints import Checkpoint
from bibgenie_desktop.sessions.citations import Citation
from bibgenie_desktop.sessions.locators import PERSONAL, ItemLocator, ItemRef, PageLocator
from bibgenie_desktop.sessions.nodes import Node, Role, Session
from bibgenie_desktop.sessions.parts import ImagePart, Part, ReasoningPart, TextPart, ToolCallPart, ZoteroPart
from bibgenie_desktop.sessions.usage import Usage
from bibgenie_desktop.store.chats import Blob, Chat, LedgerEntry

WHEN = "2026-11-30T12:00:00.000Z"
LABELS = ItemRef(PERSONAL, "PDFLABL2")
TOKEN = "[[cite:PDFLABL2@2]]"
CITED = Citation(TOKEN, "verified", "Okafor 2014", PageLocator(LABELS, 2, "1"))
LINK = "zotero://open-pdf/library/items/PDFLABL2?page=3"
PICTURE = b"\x89PNG\r\n\x1a\n not much of one"


def node(identity: str, parent: str | None, role: Role, *parts: Part, **more: Any) -> Node:
    """A node that could be stored."""
    if role == "assistant":
        more = {"model": "scripted", "stop_reason": "stop", **more}
    return Node(identity, parent, role, parts, WHEN, **more)


def said(identity: str, parent: str | None, role: Role, words: str, **more: Any) -> Node:
    """A node of text alone."""
    return node(identity, parent, role, TextPart(words), **more)


def chat(*nodes: Node, leaf: str, branch: tuple[str, ...] | None = None, **more: Any) -> Chat:
    """A chat of these nodes, whose branch leads to `leaf`."""
    parents = {each.id: each.parent_id for each in nodes}
    way: list[str] = []
    current: str | None = leaf
    while current is not None:
        way.append(current)
        current = parents[current]
    session = Session("s1", "What is *front matter*?", leaf, 7, "scripted", WHEN, WHEN)
    return Chat(
        session, nodes, branch or tuple(reversed(way)), more.pop("visited", {leaf: 7}), **{"checkpoints": {}, **more}
    )


def rich_chat() -> Chat:
    """Two versions of an answer and of a question, a checkpoint, an attachment, a note and what replaces it."""
    blob = sha256(PICTURE).hexdigest()
    usage = Usage(input_tokens=5, output_tokens=2, real=True, checkpoint_id="c1", cost=0.25)
    return chat(
        node("q1", None, "user", TextPart("What is <front> matter?"), ImagePart(blob, "image/png", "scan.png")),
        node(
            "a1",
            "q1",
            "assistant",
            ReasoningPart("Hm.", {"signature": "x"}),
            ToolCallPart("t", "search_library", '{"query": "front matter"}', "done", delivered=(ItemLocator(LABELS),)),
            TextPart(f"Roman numerals {TOKEN}.", (CITED,)),
        ),
        node("q2", "a1", "user", TextPart("Why?"), ZoteroPart(ItemLocator(LABELS), "On labels", "Okafor 2014")),
        node("c1", "q2", "checkpoint"),
        said("a2", "c1", "assistant", "Because.", usage=usage),
        said("b2", "q2", "assistant", "Before the checkpoint.", stop_reason="interrupted"),
        said("p1", None, "user", "What is front matter, again?"),
        said("r1", "p1", "assistant", "The same."),
        said("q3", "a1", "user", "Why so?"),
        leaf="a2",
        visited={"a2": 7, "b2": 4, "r1": 6, "q3": 5},
        checkpoints={
            "c1": Checkpoint(
                "c1", "summary", "q2", "They talked of *numerals*.", 1, "manual", "scripted", "3", "q1", "a1", 900, 100,
                {"ok": True}, 1200, 0.5, WHEN,
            )
        },
        ledger=(
            LedgerEntry("l1", "a1", "claim", "user", {"text": "wrong"}, None, WHEN),
            LedgerEntry("l2", None, "claim", "user", {"text": "right"}, "l1", WHEN),
        ),
        blobs=(Blob(blob, "image/png", PICTURE, WHEN),),
    )  # fmt: skip
