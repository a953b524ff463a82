"""Which model a name stands for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .litellm_model import LitellmModel
from .port import Model

OFFLINE = "offline"
"""The name of the assistant that is built in and needs no model."""


def open_model(
    name: str,
    *,
    offline: Callable[[], Model],
    environ: Mapping[str, str],
    api_base: str | None = None,
    context_window: int | None = None,
    max_output: int | None = None,
) -> Model:
    """The model of that name: the offline assistant, made by `offline`, or any model that litellm reaches.

    `context_window` and `max_output` are in tokens and serve litellm models alone. Nothing is loaded or checked yet:
    `prepare` does that. Keys come from `environ`.
    """
    if name == OFFLINE:
        return offline()
    return LitellmModel(name, environ=environ, api_base=api_base, context_window=context_window, max_output=max_output)
