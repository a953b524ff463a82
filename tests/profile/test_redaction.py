"""What looks like a secret leaves no log, and what does not stays readable (L-6, S-2)."""

from __future__ import annotations

import json
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.profile.redaction import REDACTED, redact

# Made up, in the form each provider gives its keys.
KEYS = {
    "OpenAI": "sk-aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5jK7m",
    "OpenAI project": "sk-proj-aB3dE5gH7jK9-mN1pQ3sT5v_W7yZ9bC1dF3gH5jK7mN9pQ1rS3tU5",
    "Anthropic": "sk-ant-api03-aB3dE5gH7jK9-mN1pQ3sT5v_W7yZ9bC1dF3gH5jK7mN9pQ1-AA",
    "OpenRouter": "sk-or-v1-0123456789abcdef0123456789abcdef0123456789abcdef",
    "DeepSeek": "sk-0123456789abcdef0123456789abcdef",
    "Google": "AIzaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q",
    "Google OAuth": "ya29.a0AbCdEfGhIjKlMnOpQrStUvWx1234",
    "Groq": "gsk_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5jK7mN9pQ1rS3",
    "Cerebras": "csk-aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5",
    "xAI": "xai-aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5jK7mN9",
    "Hugging Face": "hf_aB3dE5gHjKmNpQsTvWyZbCdFgHjKmNpQr",
    "Perplexity": "pplx-0123456789abcdef0123456789abcdef",
    "Replicate": "r8_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5j",
    "NVIDIA": "nvapi-aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5-jK7m",
    "GitHub": "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5",
    "GitHub fine": "github_pat_11ABCDEFG0aB3dE5gH7jK9_mN1pQ3sT5vW7",
    "GitLab": "glpat-aB3dE5gH7jK9mN1pQ3sT",
    "Slack": "xoxb-123456789012-aB3dE5gH7jK9mN1p",
    "AWS": "AKIA1B3D5F7H9J1L3N5P",
    "Databricks": "dapi0123456789abcdef0123456789abcdef",
    "JSON web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
}
# Keys without a form of their own (Mistral, Cohere, Azure, Together, Zotero): the name before them tells.
BARE = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF"


@pytest.mark.req("L-6", "S-2")
@pytest.mark.parametrize("provider", KEYS)
@pytest.mark.parametrize(
    "place", ["{}", "refused key {}.", "({})", '"{}"', "a={};b", "https://host/v1?x={}&y=1", "\n{}\n"]
)
def test_a_key_is_known_by_its_form_wherever_it_stands(provider: str, place: str) -> None:
    redacted = redact(place.format(KEYS[provider]))
    assert KEYS[provider] not in redacted
    assert REDACTED in redacted


@pytest.mark.req("L-6", "S-2")
@pytest.mark.parametrize(
    "text",
    [
        f"Authorization: Bearer {BARE}",
        f"authorization: bearer {BARE}",
        f"Authorization: Basic {BARE}=",
        f"Authorization: Token {BARE}",
        f"Proxy-Authorization: Basic {BARE}",
        f"{{'Authorization': 'Bearer {BARE}', 'accept': '*/*'}}",
        f"[(b'authorization', b'Bearer {BARE}'), (b'accept', b'*/*')]",
        f"[(b'x-api-key', b'{BARE}')]",
        f"x-api-key: {BARE}",
        f"x-goog-api-key: {BARE}",
        f"api-key: {BARE}",
        f"Zotero-API-Key: {BARE}",
        f"Cookie: session={BARE}; theme=dark",
        f"set-cookie: id={BARE}; Path=/",
        f"MISTRAL_API_KEY={BARE}",
        f"AWS_SECRET_ACCESS_KEY={BARE}",
        f"export COHERE_API_KEY='{BARE}'",
        f'api_key = "{BARE}"',
        f"completion(model='m', api_key='{BARE}', temperature=0)",
        f'{{"api_key": "{BARE}"}}',
        f'{{"apiKey":"{BARE}"}}',
        f'{{"private_key": "{BARE}"}}',
        f'{{"client_secret": "{BARE}"}}',
        f'{{"access_token": "{BARE}", "expires_in": 3600}}',
        f"secret_key => '{BARE}'",
        f"Invalid API key: {BARE}",
        f"curl -H 'Authorization: Bearer {BARE}' https://host/v1",
        json.dumps(json.dumps({"api_key": BARE})),
        repr(json.dumps(json.dumps({"headers": {"Authorization": f"Bearer {BARE}"}}))),
        f"https://generativelanguage.example/v1?key={BARE}&alt=sse",
        f"https://api.zotero.example/users/1/items?limit=1&key={BARE}",
        f"https://host/callback?code={BARE}",
        f"https://user:{BARE}@host/v1",
        f"http://user:p@ss:{BARE}@host:8080/",
        f"socks5://{BARE}@proxy:1080",
        f"postgresql://bib:{BARE}@db/history",
        f"-----BEGIN PRIVATE KEY-----\n{BARE}\n{BARE}\n-----END PRIVATE KEY-----",
        f"-----BEGIN RSA PRIVATE KEY-----\n{BARE}",
    ],
)
def test_a_secret_is_known_by_what_stands_before_it(text: str) -> None:
    assert BARE not in redact(text)
    assert REDACTED in redact(text)


@pytest.mark.req("L-6", "S-2")
@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ('{"password": "two words; and, more", "user": "me"}', '{"password": [redacted], "user": "me"}'),
        (r'{"password": "quo\"ted end", "user": "me"}', '{"password": [redacted], "user": "me"}'),
        ("password=hunter22 user=me", "password=[redacted] user=me"),
        ("https://me:hunter22@host/v1", "https://[redacted]@host/v1"),
        ("http://me:abc@host/v1", "http://[redacted]@host/v1"),
        ("http://me:p@ss@host/v1", "http://[redacted]@host/v1"),
    ],
)
def test_the_whole_secret_goes_and_no_more(text: str, redacted: str) -> None:
    assert redact(text) == redacted


@pytest.mark.req("L-6")
@pytest.mark.parametrize(
    "text",
    [
        "The token economy rewards reading, and a bearer of news must wait.",
        "Tokens: 4096, max_tokens=4096, prompt_tokens: 1234, token_count=12",
        "GET http://127.0.0.1:23119/api/users/0/items?limit=100 200",
        "http://localhost:11434/v1/chat/completions",
        "https://host/v1?model=qwen3&stream=true#part",
        "zotero://open-pdf/library/items/ABCD2345?page=3&annotation=NTECHLD2",
        "library/items/ABCD2345: damaged",
        "attachment groups/555/items/PDFS2345 at /home/me/Zotero/storage/PDFS2345/a file.pdf",
        "a key-value store, keyboard-interrupt-handling, skeleton_key_something_else, sk-learn-documentation-pages",
        "risk-assessment-of-everything, pk, rk and hf are letters",
        "mail me@example.org or see https://example.org/@me",
        "The secret is out: no password was asked for, and the author’s keys are the keys of a piano.",
        "api_key=None, token=null, password: false",
        "session 5f2d6c1e8b7a4f0c9d3e2a1b0c9d8e7f was opened",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "2026-11-30 18:50:48,123 INFO bibgenie_desktop.engine: indexed 12 pages",
        "eyJ is how such a token begins",
    ],
)
def test_what_is_no_secret_stays_readable(text: str) -> None:
    assert redact(text) == text


@pytest.mark.req("L-6", "S-2")
def test_a_traceback_tells_no_key() -> None:
    try:
        request = {"headers": {"Authorization": f"Bearer {KEYS['OpenAI']}"}, "api_key": BARE}
        raise RuntimeError(f"401 from https://me:{BARE}@host/v1: {request}")
    except RuntimeError:
        text = traceback.format_exc()
    redacted = redact(text)
    assert BARE not in redacted
    assert KEYS["OpenAI"] not in redacted
    assert "RuntimeError: 401 from https://[redacted]@host/v1" in redacted
    assert "test_a_traceback_tells_no_key" in redacted


FRAGMENTS = [
    "api_key",
    "token",
    "Authorization",
    "bearer ",
    ": ",
    "=",
    '"',
    "'",
    "\\",
    "://",
    "@",
    "a1b2c3d4e5f6g7h8",
    "sk-",
]
FRAGMENTS += [
    " ",
    "\n",
    ",",
    "x",
    "?key=",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    REDACTED,
    "b'",
    "(",
]


@pytest.mark.req("L-6")
@given(st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=3), max_size=12).map("".join))
def test_what_was_redacted_once_is_redacted(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    "piece",
    ["a-", "token", "token: ", "://", "bearer ", "sk-", "'", "\\", "eyJ.", "-", "a_", "-----BEGIN PRIVATE KEY-----"],
)
def test_no_text_takes_more_than_one_pass(piece: str) -> None:
    redact(piece * (1_000_000 // len(piece)))
