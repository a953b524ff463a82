"""What the models port costs on top of litellm: CPU for each streamed chunk, as a ratio to litellm called bare.

    python -m benchmarks.bench_models [--chunks 1000] [--rounds 5]

Both play the same answer of the scripted server, which runs in a process of its own, in turns within one process, so
that the machine's mood cancels out. The best round counts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from bibgenie_desktop.compaction.messages import UserMessage
from bibgenie_desktop.models import litellm_environment
from bibgenie_desktop.models.litellm_model import LitellmModel
from bibgenie_desktop.models.port import ModelRequest, StepFinished

USAGE = {"prompt_tokens": 1000, "completion_tokens": 1000, "total_tokens": 2000}
QUESTION = "What does front matter numbering do to page citations?"


async def _bare(base_url: str) -> int:
    """One answer by litellm alone; returns the pieces of text."""
    litellm = litellm_environment.load()
    stream = await litellm.acompletion(
        model="openai/m",
        api_base=base_url,
        api_key="none",
        messages=[{"role": "user", "content": QUESTION}],
        stream=True,
        stream_options={"include_usage": True},
        num_retries=0,
        max_retries=0,
    )
    pieces = 0
    async for chunk in stream:
        if chunk.choices and chunk.choices[0].delta.content:
            pieces += 1
    return pieces


async def _ours(model: LitellmModel) -> int:
    """One answer through the port; returns the pieces of text."""
    events = [event async for event in model.stream(ModelRequest("", (UserMessage(QUESTION),)))]
    assert isinstance(events[-1], StepFinished)
    assert events[-1].usage.real
    return len(events) - 1


async def _cpu(play: Callable[[], Awaitable[int]], chunks: int) -> float:
    """Microseconds of CPU a chunk."""
    start = time.process_time()
    assert await play() == chunks
    return (time.process_time() - start) / chunks * 1e6


async def _measure(base_url: str, chunks: int, rounds: int) -> None:
    model = LitellmModel("openai/m", environ={}, api_base=base_url)
    bare: list[float] = []
    ours: list[float] = []
    for _ in range(rounds + 1):
        bare.append(await _cpu(lambda: _bare(base_url), chunks))
        ours.append(await _cpu(lambda: _ours(model), chunks))
    await model.close()
    # The first round loads what litellm loads with its first call.
    best_bare, best_ours = min(bare[1:]), min(ours[1:])
    print(f"litellm bare      {best_bare:7.0f} µs of CPU a chunk")
    print(f"models port       {best_ours:7.0f} µs of CPU a chunk")
    print(f"ratio             {best_ours / best_bare:7.2f} (at most 1.5)")


async def _run(chunks: int, rounds: int) -> None:
    steps = [{"text": f"word {number} "} for number in range(chunks)]
    script = [{"steps": [*steps, {"finish": "stop"}, {"usage": USAGE}], "repeat": True}]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "script.json"
        path.write_text(json.dumps(script), encoding="utf-8")
        command = [sys.executable, "-m", "tests.servers.llm", "--script", str(path)]
        server = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        try:
            assert server.stdout is not None
            await _measure((await server.stdout.readline()).decode().strip(), chunks, rounds)
        finally:
            server.terminate()
            await server.communicate()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="CPU for each streamed chunk, ours against litellm alone.")
    parser.add_argument("--chunks", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    asyncio.run(_run(options.chunks, options.rounds))


if __name__ == "__main__":
    main()
