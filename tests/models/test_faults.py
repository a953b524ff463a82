"""Every fault of a provider gets a code, and a sentence that gives nothing away (A-5, S-2)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.models.faults import Fault, classify, model_error, observe, retry_after, sentence, shown
from bibgenie_desktop.models.port import ModelErrorCode

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
SERVED = {"content-type": "application/json"}
"""Headers show that a server answered."""

CASES: list[tuple[ModelErrorCode, Fault]] = [
    ("authentication", Fault("AuthenticationError", 401, "Incorrect API key provided: sk-1", SERVED)),
    ("authentication", Fault("BadRequestError", 400, "API key not valid. Please pass a valid API key.", SERVED)),
    ("missing_key", Fault("AuthenticationError", 401, "You didn't provide an API key.", SERVED)),
    ("missing_key", Fault("APIConnectionError", 500, "The api_key client option must be set")),
    ("missing_key", Fault("AuthenticationError", 401, "Missing Anthropic API Key")),
    ("permission", Fault("APIError", 403, "Your organization may not use this", SERVED)),
    ("unknown_model", Fault("NotFoundError", 404, "404 page not found", SERVED)),
    ("unknown_model", Fault("BadRequestError", 400, "nonsense is not a valid model ID", SERVED)),
    ("unknown_model", Fault("BadRequestError", 400, "The model `gpt-99` does not exist", SERVED)),
    ("rate_limit", Fault("RateLimitError", 429, "RateLimitError: Rate limit reached for tokens per min", SERVED)),
    ("rate_limit", Fault("RateLimitError", 429, "You exceeded your current quota. RESOURCE_EXHAUSTED", SERVED)),
    ("rate_limit", Fault("APIError", 413, "Request too large on tokens per minute (TPM): Limit 6000", SERVED)),
    ("quota", Fault("RateLimitError", 429, "RateLimitError: You exceeded your current quota", SERVED)),
    ("quota", Fault("RateLimitError", 429, '{"error": {"code": "insufficient_quota"}}', SERVED)),
    ("quota", Fault("BadRequestError", 400, "Your credit balance is too low to access the API", SERVED)),
    ("quota", Fault("APIError", 402, "Insufficient Balance", SERVED)),
    ("context_overflow", Fault("ContextWindowExceededError", 400, "whatever", SERVED)),
    ("context_overflow", Fault("BadRequestError", 400, "This model's maximum context length is 4096 tokens", SERVED)),
    ("context_overflow", Fault("BadRequestError", 400, "prompt is too long: 210000 tokens > 200000 maximum", SERVED)),
    ("context_overflow", Fault("BadRequestError", 400, "The number of tokens to keep from the initial", SERVED)),
    ("context_overflow", Fault("BadRequestError", 400, "the request exceeds the available context size", SERVED)),
    ("context_overflow", Fault("BadRequestError", 400, "input length and `max_tokens` exceed context limit", SERVED)),
    ("context_overflow", Fault("BadRequestError", 400, "Input tokens exceed the configured limit of 272000", SERVED)),
    ("context_overflow", Fault("BadRequestError", 400, "Prompt contains too many tokens", SERVED)),
    ("context_overflow", Fault("BadRequestError", 400, "is longer than the model's context length", SERVED)),
    ("context_overflow", Fault("BadRequestError", 400, "Prompt 90000 is too large for model", SERVED)),
    ("context_overflow", Fault("InternalServerError", 500, "context size exceeded", SERVED)),
    ("context_overflow", Fault("APIError", 413, "Request Entity Too Large", SERVED)),
    ("bad_request", Fault("BadRequestError", 400, "temperature must be 1", SERVED)),
    ("bad_request", Fault("BadRequestError", 400, "an image exceeds the limit of 5 MB", SERVED)),
    ("bad_request", Fault("UnsupportedParamsError", 400, "x does not support parameters: ['tools']")),
    ("bad_request", Fault("APIError", 409, "conflict", SERVED)),
    ("server", Fault("InternalServerError", 500, "oops", SERVED)),
    ("server", Fault("InternalServerError", 500, "upstream: Connection error.", SERVED)),
    ("server", Fault("BadGatewayError", 502, "<html>", SERVED)),
    ("server", Fault("APIError", 529, "overloaded", SERVED)),
    ("server", Fault("TypeError")),
    ("server", Fault("MidStreamFallbackError", 500, "overloaded")),
    ("connection", Fault("InternalServerError", 500, "OpenAIException - Connection error.")),
    ("connection", Fault("APIConnectionError", 500, "Cannot connect to host 127.0.0.1:9")),
    ("connection", Fault("APIConnectionError", 500, "[Errno -2] Name or service not known")),
    ("connection", Fault("InternalServerError", 500, "certificate verify failed")),
    ("timeout", Fault("Timeout", 408, "Request timed out.")),
    ("timeout", Fault("APIError", 504, "gateway timeout", SERVED)),
    ("interrupted", Fault("MidStreamFallbackError", 500, "overloaded", started=True)),
    ("interrupted", Fault("MidStreamFallbackError", 500, "Stream ended before a finish_reason was received")),
    ("interrupted", Fault("APIConnectionError", 500, "Connection error.", started=True)),
    ("interrupted", Fault("InternalServerError", 500, "anything", started=True)),
]


@pytest.mark.req("A-5")
@pytest.mark.parametrize(("code", "fault"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_fault_is_classified_by_class_status_and_text_together(code: ModelErrorCode, fault: Fault) -> None:
    assert classify(fault) == code


@pytest.mark.req("A-5")
def test_the_table_of_cases_covers_every_code_a_provider_can_cause() -> None:
    assert {code for code, _ in CASES} == set(get_args(ModelErrorCode)) - {"empty"}


@pytest.mark.req("A-5", "S-2")
@pytest.mark.parametrize(("code", "fault"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_the_error_says_one_sentence_of_ours_and_nothing_of_the_providers(code: ModelErrorCode, fault: Fault) -> None:
    secret = Fault(fault.kind, fault.status, f"{fault.text} sk-SECRET Traceback", fault.headers, fault.started)
    error = model_error(secret, "openai/m", NOW)
    assert error.code == code
    assert "“openai/m”" in str(error)
    safe = ("nothing was sent",) if code == "missing_key" else ("question", "kept")
    assert all(words in str(error) for words in safe)
    assert str(error).endswith(".")
    assert "\n" not in str(error)
    assert not any(word in str(error) for word in ("SECRET", "Traceback", "litellm", "Error"))


@pytest.mark.req("A-5")
def test_a_missing_key_names_the_variable_to_set() -> None:
    assert "set MISTRAL_API_KEY in the environment" in sentence("missing_key", "mistral/x", variable="MISTRAL_API_KEY")
    assert "the provider's key" in sentence("missing_key", "strange/x")


@pytest.mark.req("A-5")
@pytest.mark.parametrize(
    "fault",
    [
        Fault("ContentPolicyViolationError", 400, "refused", SERVED),
        Fault("BadRequestError", 400, '{"code": "content_filter"}', SERVED),
    ],
)
def test_a_request_refused_by_content_rules_is_told_apart_from_a_bad_one(fault: Fault) -> None:
    error = model_error(fault, "azure/x", NOW)
    assert (error.code, "content rules" in str(error)) == ("bad_request", True)


@pytest.mark.req("A-5")
@pytest.mark.parametrize(
    ("value", "seconds", "words"),
    [
        ("2", 2.0, "ask again in 2 seconds."),
        ("0.5", 0.5, "ask again in a second."),
        ("Sun, 01 Mar 2026 12:01:30 GMT", 90.0, "ask again in 90 seconds."),
        ("Sun, 01 Mar 2026 12:01:30 -0000", 90.0, "ask again in 90 seconds."),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0, "ask again in a second."),
        ("-3", None, "ask again in a while."),
        ("nan", None, "ask again in a while."),
        ("1e300", None, "ask again in a while."),
        ("soon", None, "ask again in a while."),
        ("", None, "ask again in a while."),
    ],
)
def test_a_waiting_time_comes_in_seconds_or_as_a_date(value: str, seconds: float | None, words: str) -> None:
    error = model_error(Fault("RateLimitError", 429, "", {"retry-after": value}), "openai/m", NOW)
    assert (error.code, error.retry_after) == ("rate_limit", seconds)
    assert str(error).endswith(words)


@pytest.mark.req("A-5")
@given(st.text())
def test_no_waiting_time_a_server_can_write_is_negative_or_endless(value: str) -> None:
    seconds = retry_after({"retry-after": value}, NOW)
    assert seconds is None or 0 <= seconds <= 86_400


@pytest.mark.req("A-5")
@given(st.integers(0, 86_400))
def test_a_date_and_its_distance_in_seconds_mean_the_same(seconds: int) -> None:
    date = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)
    assert retry_after({"retry-after": date}, NOW) == retry_after({"retry-after": str(seconds)}, NOW) == seconds


@pytest.mark.req("A-5")
@given(st.text(), st.text(), st.integers() | st.none(), st.booleans())
def test_whatever_a_provider_says_gets_a_code_of_the_closed_set(
    kind: str, text: str, status: int | None, started: bool
) -> None:
    assert classify(Fault(kind, status, text, {}, started)) in get_args(ModelErrorCode)


@pytest.mark.req("S-1")
@given(st.text())
def test_a_models_name_stands_in_a_sentence_on_one_line_and_not_endlessly(name: str) -> None:
    assert shown(name).isprintable()
    assert len(shown(name)) <= 82


class _Unread:
    headers = {"Retry-After": "3"}  # noqa: RUF012

    @property
    def text(self) -> str:
        raise RuntimeError("the body was never read")


class _Failed(Exception):
    status_code = 429
    response = _Unread()


@pytest.mark.req("A-5")
def test_an_exception_is_reduced_to_what_classifies_it() -> None:
    fault = observe(_Failed("slow down"), started=True)
    assert (fault.kind, fault.status, fault.started) == ("_Failed", 429, True)
    assert dict(fault.headers) == {"retry-after": "3"}
    assert fault.text.startswith("slow down")
    plain = observe(ValueError("x" * 100_000))
    assert (plain.status, plain.headers, len(plain.text)) == (None, {}, 20_000)
