"""The words the chat shows around what person and model wrote: headings, tool lines, states of citations."""

from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QLocale

from ...protocol.values import Segment
from .body import Voice
from .edits import Hindrance
from .message import Message, Offer

translate = QCoreApplication.translate

_OBJECT = re.compile(r"(?<=\S)\s+(?:for\s+)?(?:[“„«‘\"']|[A-Z0-9]{8}\b)")
"""The space before the object in the engine's titles of tool calls, such as: Search the library for “bias”."""


def heading(message: Message, when: Callable[[str], str]) -> str:
    """The line above a message. `when` turns a stored time into words."""
    moment = when(message.created_at) if message.created_at else ""
    match message.role:
        case "checkpoint":
            return translate("Chat", "Earlier context compacted")
        case "user":
            sending = message.status == "sending"
            return _joined(translate("Chat", "You"), translate("Chat", "sending…") if sending else moment)
        case _:
            counts = "" if message.status == "streaming" else _citation_counts(message)
            return _joined("BibGenie", moment, model_name(message.model), counts)


def token_count(tokens: int) -> str:
    """A count of tokens, as short as can be: `812`, `6.1k`, `41k`, `1.2M`."""
    for size, sign in ((1_000_000, "M"), (1_000, "k")):
        # What is rounded to 1,000k is a million.
        if tokens >= size - size // 2_000:
            count = tokens / size
            decimals = 1 if count < 9.95 and round(count, 1) % 1 else 0
            return f"{QLocale().toString(count, 'f', decimals)}{sign}"
    return QLocale().toString(tokens)


def checkpoint_words(message: Message) -> str:
    """What a checkpoint's divider says: how much it freed, and whether no model wrote it (D-12)."""
    before, after = message.tokens_before, message.tokens_after
    freed = f"{token_count(before)} → {token_count(after)}" if before and after else ""
    kind = translate("Chat", "without a model") if message.kind == "deterministic" else ""
    return _joined(translate("Chat", "Earlier context compacted"), freed, kind)


def covered_words() -> str:
    """What a message is that is sent as a summary, for who cannot see it."""
    return translate("Chat", "part of the summary")


def first_kept_words() -> str:
    """What stands above the first message after a summary."""
    return translate("Chat", "kept word for word from here")


def version_count(message: Message) -> str:
    """Which version of how many a message is, as short as can be."""
    number, count = (QLocale().toString(each) for each in (message.version, message.versions))
    return f"{number}/{count}"


def version_words(message: Message) -> str:
    """Which version of how many a message is, for who cannot see it."""
    number, count = (QLocale().toString(each) for each in (message.version, message.versions))
    return translate("Chat", "Version {number} of {count}").format(number=number, count=count)


def note(message: Message) -> str:
    """The sentence under a message: what was told when it ended, or how the stored one ended; "" for none."""
    if message.note:
        return message.note
    if "answer" in message.offers and message.role == "user":
        return translate("Chat", "This question has no answer yet.")
    match message.stop_reason if message.status == "stored" else "":
        case "interrupted":
            return translate("Chat", "This answer was interrupted when BibGenie ended. What came is kept.")
        case "cancelled":
            return translate("Chat", "You stopped this answer. What came is kept.")
        case "error":
            return translate("Chat", "This answer broke off with an error. What came is kept.")
        case "length":
            return translate("Chat", "This answer reached the model's output limit and is cut off.")
        case "content_filter":
            return translate("Chat", "The provider's filter ended this answer.")
        case "step_limit":
            return translate("Chat", "This answer was ended after too many tool calls.")
        case "context_full":
            return translate("Chat", "The context was full, so this answer could not be finished.")
        case _:
            return ""


def offer_words(offer: Offer) -> str:
    """What is pressed to take an offer."""
    match offer:
        case "continue":
            return translate("Chat", "Continue")
        case "retry":
            return translate("Chat", "Retry")
        case "answer":
            return translate("Chat", "Answer now")


def hindrance_words(hindrance: Hindrance) -> str:
    """Why a question that is written in its place cannot be sent now; "" where it can."""
    match hindrance:
        case "answering":
            return translate("Chat", "An answer still streams in this chat: wait for it or stop it.")
        case "compacting":
            return translate("Chat", "Not while earlier context is compacted.")
        case "damaged":
            return translate("Chat", "This chat is damaged and can only be read: continue in a new chat.")
        case "empty":
            return translate("Chat", "The question is empty: write one.")
        case "unchanged":
            return translate("Chat", "Change the question first; to ask it again as it is, retry the answer.")
        case "":
            return ""


def model_name(model: str) -> str:
    """A model's name for the reader."""
    return translate("Chat", "offline assistant") if model == "offline" else model


def voice_name(voice: Voice) -> str:
    """What a text is in its message."""
    match voice:
        case "answer":
            return translate("Chat", "Answer")
        case "question":
            return translate("Chat", "Question")
        case "quiet":
            return translate("Chat", "Details")


def waiting_words() -> str:
    """What is said while nothing of an answer is to be read yet."""
    return translate("Chat", "Thinking…")


def step_title(segment: Segment, *, running: bool) -> str:
    """What a tool call does, or that there was thinking, in a few words."""
    if segment.kind == "reasoning":
        return translate("Chat", "Thinking…") if running else translate("Chat", "Thought")
    title = " ".join(segment.text.split())
    return f"{title}…" if running else title


def step_action(title: str) -> tuple[str, str]:
    """The title of a step in two: what is done, and to what; the latter begins at a quotation or at an item's key."""
    found = _OBJECT.search(title)
    return (title[: found.start()], title[found.start() :].lstrip()) if found else (title, "")


def step_outcome(segment: Segment) -> str:
    """How a tool call went, in a few words; "" where there is nothing to say."""
    match segment.state:
        case "done":
            outcome = segment.detail
        case "cancelled":
            outcome = translate("Chat", "stopped")
        case "denied":
            outcome = translate("Chat", "not allowed")
        case "error":
            outcome = segment.detail or translate("Chat", "failed")
        case _:
            outcome = ""
    return " ".join(outcome.split())


def step_time(segment: Segment) -> str:
    """How long a tool call took; "" while it runs, and where nobody measured it."""
    if not segment.duration_ms or segment.state == "pending":
        return ""
    return translate("Chat", "{seconds} s").format(
        seconds=QLocale().toString(max(segment.duration_ms, 100) / 1000, "f", 1)
    )


def step_line(segment: Segment, *, running: bool) -> str:
    """The one line of a tool call, or of thinking."""
    return _joined(step_title(segment, running=running), step_outcome(segment), step_time(segment))


def citation_state(segment: Segment) -> str:
    """What the state of a citation means."""
    match segment.state:
        case "verified" if segment.detail:
            return translate("Chat", "Verified: “{quote}”").format(quote=segment.detail)
        case "verified":
            return translate("Chat", "Verified.")
        case "wrong":
            return translate("Chat", "Wrong: {reason}.").format(reason=segment.detail)
        case _:
            return translate("Chat", "Not verified: {reason}.").format(reason=segment.detail)


def _citation_counts(message: Message) -> str:
    words = {
        "verified": translate("Chat", "{count} verified"),
        "unverified": translate("Chat", "{count} unverified"),
        "wrong": translate("Chat", "{count} wrong"),
    }
    states = [segment.state for segment in message.segments if segment.kind == "citation"]
    counts = [word.format(count=states.count(state)) for state, word in words.items() if state in states]
    return translate("Chat", "citations: {counts}").format(counts=", ".join(counts)) if counts else ""


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)
