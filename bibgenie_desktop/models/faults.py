"""Faults of providers, classified (A-5): from what an exception shows to a code and one plain sentence.

litellm names the same fault differently by provider and release, so that class, status and text decide together.
Pure: an exception is first reduced to a `Fault`; a provider's text is read here and never passed on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from .port import ModelError, ModelErrorCode

LONGEST_WAIT = 86_400.0
"""Seconds; a longer waiting time is taken for none."""

_LONGEST_TEXT = 20_000
_LONGEST_NAME = 80

_OVERFLOW = re.compile(
    r"maximum context length|context_length_exceeded|context (?:window|size|length)"
    r"|exceed\w* (?:the )?(?:context|configured) limit"
    r"|too many (?:input )?tokens|prompt is too long|input is too long|longer than the model's context"
    r"|too large for (?:the )?model|tokens to keep",
    re.IGNORECASE,
)
_RATE = re.compile(r"rate[ _-]limit|per (?:minute|hour|day)\b|\b[TR]P[MD]\b|resource_exhausted", re.IGNORECASE)
_QUOTA = re.compile(
    r"insufficient[ _](?:quota|balance|credits?|funds)|exceeded your current quota|credit balance|payment required"
    r"|billing",
    re.IGNORECASE,
)
_KEY = re.compile(r"api[ _]?key (?:is )?(?:not valid|invalid)|(?:invalid|incorrect) api[ _]?key", re.IGNORECASE)
_NO_KEY = re.compile(
    r"missing (?:\w+ )?api[ _]?key|api_key client option must be set|api[ _]?key (?:is )?(?:required|missing)"
    r"|(?:no|didn't provide an) api[ _]?key",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model_not_found|not a valid model|provider not provided|unknown model|no such model"
    r"|\bmodel\b.{0,120}(?:does not exist|not found)",
    re.IGNORECASE | re.DOTALL,
)
_RULES = re.compile(r"content_filter|content_policy|content management policy|responsible ai", re.IGNORECASE)
_UNREACHED = re.compile(
    r"connection error|cannot connect|connect(?:ion)? (?:refused|failed|reset)|all connection attempts failed"
    r"|name or service not known|nodename nor servname|getaddrinfo|temporary failure in name resolution"
    r"|certificate|\bssl\b|server disconnected|network is unreachable|no route to host",
    re.IGNORECASE,
)
_BROKEN_OFF = re.compile(r"connection error|stream ended before|incomplete|payload is not completed", re.IGNORECASE)

_SENTENCES: Mapping[ModelErrorCode, str] = {
    # Also told when the model is only chosen, so no question is named.
    "missing_key": "There is no API key for {name}; nothing was sent: set {variable} in the environment and start "
    "BibGenie again, or choose another model.",
    "authentication": "The provider of {name} refused the API key; your question is kept: check the key and ask again.",
    "permission": "The API key may not use {name}; your question is kept: choose another model, or ask the provider "
    "for access.",
    "unknown_model": "No model called {name} is known at this address; your question is kept: check the model's name, "
    "and the API base if you gave one (for a local server it usually ends in /v1).",
    "context_overflow": "The request was larger than {name} takes, and it was refused; your question is kept: ask in a "
    "new session, or choose a model with a larger context window.",
    "rate_limit": "The provider of {name} takes no more requests for the moment; your question is kept: ask again "
    "{wait}.",
    "quota": "The account at the provider of {name} has no credit left; your question is kept: add credit, or choose "
    "another model.",
    "bad_request": "{name} could not use the request; your question is kept: choose another model, or ask in another "
    "way.",
    "server": "The provider of {name} failed; your question is kept: ask again {wait}.",
    "connection": "Nobody answered at the address of {name}; your question is kept: check that the server runs, its "
    "address, and your network.",
    "timeout": "{name} sent nothing for too long; your question and what had arrived are kept: ask again.",
    "interrupted": "The answer of {name} broke off; your question and what had arrived are kept: ask again.",
    "empty": "{name} sent an empty answer; your question is kept: ask again, or choose another model.",
}
_AGAINST_RULES = (
    "The provider of {name} refused the request by its content rules; your question is kept: ask in another way, or "
    "choose another model."
)


@dataclass(frozen=True, slots=True)
class Fault:
    """What an exception shows: its class, HTTP status, all text and the answer's headers (names in lower case).

    Headers are empty where no server answered. `started` says that some of the answer had arrived.
    """

    kind: str
    status: int | None = None
    text: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    started: bool = False


def observe(error: BaseException, *, started: bool = False) -> Fault:
    """Reduce an exception of litellm or of a client library to what classifies it."""
    response = getattr(error, "response", None)
    texts = [str(error), str(getattr(error, "body", None) or "")]
    try:
        texts.append(str(getattr(response, "text", "")))
    except RuntimeError:
        # httpx says so of an answer whose body was never read.
        texts.append("")
    headers = getattr(response, "headers", None)
    status = getattr(error, "status_code", None)
    return Fault(
        type(error).__name__,
        status if isinstance(status, int) else None,
        "\n".join(texts)[:_LONGEST_TEXT],
        {str(key).lower(): str(value) for key, value in headers.items()} if isinstance(headers, Mapping) else {},
        started,
    )


def classify(fault: Fault) -> ModelErrorCode:
    """The code of a fault."""
    kind, status, text = fault.kind, fault.status, fault.text
    if status == 402 or (status in (400, 403, 429) and _QUOTA.search(text) and not _RATE.search(text)):
        return "quota"
    if status == 429 or kind == "RateLimitError":
        return "rate_limit"
    if status == 413 and _RATE.search(text):
        return "rate_limit"
    if kind == "ContextWindowExceededError" or status == 413:
        return "context_overflow"
    if _NO_KEY.search(text):
        return "missing_key"
    if status == 401 or kind == "AuthenticationError" or _KEY.search(text):
        return "authentication"
    if status == 403 or kind == "PermissionDeniedError":
        return "permission"
    if status == 404 or kind == "NotFoundError" or (status in (400, 422) and _NO_MODEL.search(text)):
        return "unknown_model"
    if _OVERFLOW.search(text) and not _RATE.search(text):
        return "context_overflow"
    if kind == "Timeout" or status in (408, 504):
        return "timeout"
    if kind == "MidStreamFallbackError":
        return "interrupted" if fault.started or _BROKEN_OFF.search(text) else "server"
    if not fault.headers and _UNREACHED.search(text):
        return "interrupted" if fault.started else "connection"
    if status is not None and 400 <= status < 500:
        return "bad_request"
    return "interrupted" if fault.started else "server"


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that the server asks to wait, from `retry-after` in seconds or as an HTTP date; None without one."""
    value = headers.get("retry-after", "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            date = parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds())
    # Written so that a NaN is no waiting time either.
    return seconds if 0 <= seconds <= LONGEST_WAIT else None


def model_error(fault: Fault, name: str, now: datetime, *, variable: str = "") -> ModelError:
    """The error for the user. `name` is the model's as the user wrote it, `variable` where its key is looked for."""
    code = classify(fault)
    wait = retry_after(fault.headers, now)
    if code == "bad_request" and (fault.kind == "ContentPolicyViolationError" or _RULES.search(fault.text)):
        return ModelError(code, _AGAINST_RULES.format(name=shown(name)), retry_after=wait)
    return ModelError(code, sentence(code, name, variable=variable, wait=wait), retry_after=wait)


def sentence(code: ModelErrorCode, name: str, *, variable: str = "", wait: float | None = None) -> str:
    """What the user is told: what happened, what is safe, what to do."""
    pause = "in a while" if wait is None else "in a second" if wait <= 1 else f"in {math.ceil(wait)} seconds"
    return _SENTENCES[code].format(name=shown(name), variable=variable or "the provider's key", wait=pause)


def shown(name: str) -> str:
    """A model's name as it may stand in a sentence: on one line, quoted, not endless."""
    line = "".join(character if character.isprintable() else " " for character in name)
    return f"“{line if len(line) <= _LONGEST_NAME else line[: _LONGEST_NAME - 1] + '…'}”"
