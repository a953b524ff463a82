"""Secrets in text that leaves the process as a log, an export or a summary (L-6, S-2)."""

from __future__ import annotations

import re

REDACTED = "[redacted]"

# What may stand between a name and its value: `name: value`, `name=value`, `'name': 'value'`, `(b'name', b'value')`,
# and the same inside a JSON text that was itself written as JSON (`\"name\": \"value\"`).
_BETWEEN = r"""\\*["']?\s*(?:=>?|:)\s*b?|\\*["']\s*,\s*b?(?=\\*["'])"""
_QUOTED = r"""\\+"[^"]*"|\\+'[^']*'|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"""
_BARE = r"""[^\s"',;&(){}\[\]\\]{4,}"""
_NAMES = r"(?:api|access|account|secret|private|signing|subscription)[-_ ]?key|secret|token|passw(?:or)?d|passphrase"

_SECRETS = (
    # A private key in its armour, whole or cut off.
    re.compile(
        r"(?P<lead>)-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^-]|-(?!----END))*(?:-----END [A-Z ]*PRIVATE KEY-----)?"
    ),
    # User name and password of an address, also where the password holds an unescaped @.
    re.compile(r"(?P<lead>://)[^\s/?#\"'<>\\]+(?=@)"),
    # Headers whose whole value is a secret, whatever its scheme.
    re.compile(
        rf"(?P<lead>\b(?:authorization|cookie)(?:{_BETWEEN}))(?:{_QUOTED}|[^\s\"'\\,;{{}}][^\"'\\\r\n,;{{}}]*)",
        re.IGNORECASE,
    ),
    re.compile(r"(?P<lead>\bbearer\s+)(?=[^\s\[\]]{0,80}\d|[^\s\[\]]{16})[^\s\"',;(){}\[\]\\]+", re.IGNORECASE),
    # A name and its value. Counts, as in `max_tokens=4096`, have other names.
    re.compile(
        rf"(?P<lead>(?:{_NAMES})(?:{_BETWEEN}))(?!(?:null|none|true|false)\b)(?:{_QUOTED}|{_BARE})", re.IGNORECASE
    ),
    re.compile(r"(?P<lead>[?&](?:key|sig|signature|code)=)[^&#\s\"'\[\]]+", re.IGNORECASE),
    # Keys that tell by their form what they are. One without any digit is a word, such as `sk-learn-documentation`.
    re.compile(
        r"(?P<lead>)\b(?:(?:sk|pk|rk|gsk|csk|xai|hf|r8|fw|pplx|nvapi|tvly|jina|esecret|lsv2|glpat|github_pat|gh[opsur]|xox[a-z])[-_]"
        r"(?=[A-Za-z_-]{0,80}[0-9])[A-Za-z0-9_-]{12,}"
        r"|AIza[A-Za-z0-9_-]{16,}|A[KS]IA[A-Z0-9]{12,}|ya29\.[A-Za-z0-9_-]{16,}|dapi[0-9a-f]{16,}"
        r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)"
    ),
)


def redact(text: str) -> str:
    """`text` with everything that looks like a key, token or password replaced by REDACTED.

    What is no secret by name or form stays: the rule of a log is that one more word lost is better than one key told,
    but addresses, counts and prose must remain readable.
    """
    for pattern in _SECRETS:
        text = pattern.sub(rf"\g<lead>{REDACTED}", text)
    return text
