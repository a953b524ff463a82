"""Where a provider's API key is looked for: the environment variables that litellm reads (S-2).

The key is handed to litellm with each request, so that the environment given here is the only one that counts.
"""

from __future__ import annotations

from collections.abc import Mapping

_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "azure": ("AZURE_API_KEY",),
    "cerebras": ("CEREBRAS_API_KEY",),
    "cohere": ("COHERE_API_KEY", "CO_API_KEY"),
    "deepinfra": ("DEEPINFRA_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "fireworks_ai": ("FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "moonshot": ("MOONSHOT_API_KEY",),
    "nvidia_nim": ("NVIDIA_NIM_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY", "OR_API_KEY"),
    "perplexity": ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"),
    "together_ai": ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY"),
    "xai": ("XAI_API_KEY",),
}
"""By litellm's name of the provider; any one of the variables is enough, and the first is the one to tell."""

_SIGNED_IN_OTHERWISE: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_AUTH_TOKEN",),
    "azure": ("AZURE_AD_TOKEN", "AZURE_CLIENT_ID"),
}
"""Variables with which litellm does without a key."""

NO_KEY = "no-key"
"""Sent to a server of the user's own that speaks the OpenAI protocol; local servers ask for none."""


def key_variable(provider: str) -> str:
    """The variable to tell the user, "" for a provider whose variables are not known here."""
    return next(iter(_VARIABLES.get(provider, ())), "")


def find_key(provider: str, environ: Mapping[str, str]) -> str | None:
    """The provider's key in the environment, None without one."""
    return next((key for name in _VARIABLES.get(provider, ()) if (key := environ.get(name, "").strip())), None)


def needs_key(provider: str, environ: Mapping[str, str]) -> bool:
    """Whether nothing but a key can open the provider's door, as far as is known here."""
    return provider in _VARIABLES and not any(environ.get(name) for name in _SIGNED_IN_OTHERWISE.get(provider, ()))
