"""litellm in this process: loaded without touching the network, kept quiet, and put away without a trace.

litellm reads its switches from the environment while it is imported, and keeps its clients and its worker for the
whole process. So this module, the only place that imports litellm, keeps count of who uses it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ENVIRONMENT: Mapping[str, str] = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # the table of models that came with it, not the newest of the network
    "LITELLM_OFFLINE_MODE": "true",  # no catalogue, tokenizer or check fetched on its own
    "LITELLM_MODE": "PRODUCTION",  # no stray `.env` is read
    "REPEATED_STREAMING_CHUNK_LIMIT": "100000000",  # a table of dashes is an answer, not a model gone wild
}

_LOGGERS = ("LiteLLM", "LiteLLM Proxy", "LiteLLM Proxy.stdout", "LiteLLM Router", "openai", "httpx", "httpcore")
"""They write prompts, keys and what servers sent. Faults are told by us, in our words."""

_NOISE = (
    ".*conflict with protected namespace",
    ".*Accessing the.*attribute on the instance is deprecated",
    ".*`ReadOnly` qualifier",
    r"coroutine '\w+\.(async_streaming|acompletion|acompletion_stream_function)' was never awaited",
)
"""Warnings that say nothing about us: pydantic's about litellm's types, which litellm silences only while it is
imported; and one about a call that was stopped before its request was sent, for litellm prepares a call in a thread
and forgets what the thread made."""

_ROUNDS = 3
_PATIENCE = 0.5
"""Seconds that litellm's own tasks are waited for in each round, before they are cancelled."""

_users: set[object] = set()


def load() -> Any:
    """Import litellm and set it up. Blocks for several seconds the first time, so call it in a thread."""
    os.environ.update(ENVIRONMENT)
    import litellm

    litellm.suppress_debug_info = True  # it prints to stdout otherwise
    litellm.disable_hf_tokenizer_download = True
    litellm.disable_token_counter = True  # it would count a long chat for a usage that nobody reported
    litellm.drop_params = False
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    for message in _NOISE:
        warnings.filterwarnings("ignore", message=message)
    return litellm


def enter(user: object) -> None:
    """Note that `user` may hold connections from now on."""
    _users.add(user)


async def leave(litellm: Any, user: object) -> None:
    """Forget `user`. With the last one, end what litellm has started and close its connections, which all share."""
    _users.discard(user)
    if _users:
        return
    from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER

    await litellm.close_litellm_async_clients()
    litellm.in_memory_llm_clients_cache.flush_cache()
    home = Path(litellm.__file__).parent
    for _ in range(_ROUNDS):
        await GLOBAL_LOGGING_WORKER.flush()
        await GLOBAL_LOGGING_WORKER.stop()
        started = [task for task in asyncio.all_tasks() - {asyncio.current_task()} if _belongs(task, home)]
        if not started:
            return
        _, late = await asyncio.wait(started, timeout=_PATIENCE)
        for task in late:
            task.cancel()


def _belongs(task: asyncio.Task[Any], home: Path) -> bool:
    """Whether a task is litellm's (it keeps no list of those that log a call) or closes a forgotten generator."""
    coroutine = task.get_coro()
    if type(coroutine).__name__ == "async_generator_athrow":
        return True
    code = getattr(coroutine, "cr_code", None)
    return code is not None and Path(code.co_filename).is_relative_to(home)
