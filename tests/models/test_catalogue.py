"""Names stand for models, and nothing loads litellm or touches the network before it must (A-2, S-3)."""

from __future__ import annotations

import asyncio
import json
import sys
import textwrap
from typing import cast

import pytest

from bibgenie_desktop.models.catalogue import open_model
from bibgenie_desktop.models.litellm_model import LitellmModel
from bibgenie_desktop.models.port import Model
from tests.servers.llm import LlmServer


@pytest.mark.req("A-2")
def test_offline_is_the_assistant_that_is_built_in() -> None:
    built_in = cast(Model, object())
    assert open_model("offline", offline=lambda: built_in, environ={}) is built_in


@pytest.mark.req("A-2")
def test_any_other_name_is_a_litellm_model_with_the_users_figures() -> None:
    def no_offline() -> Model:
        raise AssertionError("nobody asked for the offline assistant")

    model = open_model("openai/m", offline=no_offline, environ={}, context_window=9_000, max_output=500)
    assert isinstance(model, LitellmModel)
    assert (model.name, model.capacity.context_window, model.capacity.max_output) == ("openai/m", 9_000, 500)


async def _python(source: str) -> str:
    """What a fresh interpreter prints for `source`."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", textwrap.dedent(source), stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert process.returncode == 0
    return output.decode().strip()


@pytest.mark.req("A-2")
async def test_choosing_a_model_does_not_import_litellm() -> None:
    loaded = await _python("""
        import sys
        import bibgenie_desktop.models.port
        from bibgenie_desktop.models.catalogue import open_model
        open_model("openai/m", offline=lambda: None, environ={}).capacity
        print([name for name in ("litellm", "openai", "httpx", "aiohttp", "pydantic") if name in sys.modules])
    """)
    assert loaded == "[]"


@pytest.mark.req("S-3", "A-2")
async def test_loading_and_asking_connect_to_nobody_but_the_models_server() -> None:
    """A fresh process prepares models of many providers, then asks one; every look-up and connection is noted."""
    async with LlmServer([[{"text": "Yes."}, {"finish": "stop"}]]) as server:
        noted = await _python(f"""
            import asyncio, json, sys
            noted = []
            def hook(event, arguments):
                if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname"):
                    noted.append((event, repr(arguments[1:] if event == "socket.connect" else arguments)))
            sys.addaudithook(hook)
            from bibgenie_desktop.compaction.messages import UserMessage
            from bibgenie_desktop.models.litellm_model import LitellmModel
            from bibgenie_desktop.models.port import ModelError, ModelRequest

            async def main():
                for name in ("gpt-4o", "anthropic/claude-sonnet-4-5", "gemini/x", "ollama/qwen3", "ollama_chat/qwen3",
                             "huggingface/a/b", "github_copilot/gpt-4o", "lemonade/x", "nonsense"):
                    try:
                        await LitellmModel(name, environ={{"OPENAI_API_KEY": "sk-1"}}).prepare()
                    except ModelError:
                        pass
                before = len(noted)
                model = LitellmModel("openai/m", environ={{}}, api_base={server.base_url!r})
                async for event in model.stream(ModelRequest("", (UserMessage("Hello?"),))):
                    pass
                await model.close()
                print(json.dumps([before, noted]))

            asyncio.run(main())
        """)
    before, connections = json.loads(noted)
    port = server.base_url.rpartition(":")[2].removesuffix("/v1")
    assert before == 0
    assert connections
    assert {(event, f"('127.0.0.1', {port})" in where) for event, where in connections} <= {
        ("socket.connect", True),
        ("socket.getaddrinfo", False),
    }
    assert all("127.0.0.1" in where for _, where in connections)
