"""Keys are looked for where litellm would look for them (A-2, S-2)."""

from __future__ import annotations

from typing import Any

import pytest

from bibgenie_desktop.models.keys import _VARIABLES, find_key, key_variable, needs_key


@pytest.mark.req("S-2")
def test_the_first_variable_that_is_set_gives_the_key() -> None:
    assert find_key("gemini", {"GOOGLE_API_KEY": "b", "GEMINI_API_KEY": "a"}) == "a"
    assert find_key("gemini", {"GOOGLE_API_KEY": "b", "GEMINI_API_KEY": " "}) == "b"
    assert find_key("gemini", {"OPENAI_API_KEY": "c"}) is None
    assert find_key("hosted_vllm", {"OPENAI_API_KEY": "c"}) is None


@pytest.mark.req("S-2")
def test_a_provider_that_can_be_signed_in_to_otherwise_needs_no_key() -> None:
    assert needs_key("anthropic", {})
    assert not needs_key("anthropic", {"ANTHROPIC_AUTH_TOKEN": "t"})
    assert not needs_key("ollama_chat", {})
    assert (key_variable("mistral"), key_variable("ollama_chat")) == ("MISTRAL_API_KEY", "")


@pytest.mark.req("S-2")
@pytest.mark.parametrize("provider", sorted(_VARIABLES))
def test_litellm_knows_each_provider_and_one_of_its_variables(
    provider: str, litellm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A contract: it tells which release of litellm renamed one."""
    for name in _VARIABLES[provider]:
        monkeypatch.delenv(name, raising=False)
    assert provider in [entry.value for entry in litellm.provider_list]
    missing = litellm.validate_environment(f"{provider}/x")["missing_keys"]
    assert set(_VARIABLES[provider]) & set(missing)
