"""What looking at the context costs, and what compaction keeps, beside what others keep.

    python -m benchmarks.bench_compaction [--rounds N] [--peer PYTHON]

Preflight: the whole decision before a question is sent, on a branch of 2,000 messages in memory: where nothing changed
since the last look, and where nothing was counted yet. Projection: the request for that branch. CPU time, the median of
the rounds. Goals: issue "Context compaction", speed. Ends with 1 if one is missed.

With PYTHON, one in which the `langchain` package is installed: the same conversations compacted by our policy, by
LangChain's summarisation middleware as it comes, and as TrueForge describes it (all of the context becomes a summary at
80 % of the window). Each message holds a word of its own. Told are: the messages that stay word for word, how many of
the words are either kept or were read for the summary, and tokens after, each with a summary of 300 tokens.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bibgenie_desktop.compaction.capacity import Capacity
from bibgenie_desktop.compaction.counted import Counted
from bibgenie_desktop.compaction.policy import Plan, Policy, Send, Wish
from bibgenie_desktop.compaction.projection import project
from bibgenie_desktop.compaction.serialise import serialise
from bibgenie_desktop.engine.agent.tools import reading_tool_specs
from bibgenie_desktop.sessions.nodes import Node
from bibgenie_desktop.sessions.parts import Part, TextPart, ToolCallPart

DEPTH = 2_000
UNCHANGED_LIMIT, UNCOUNTED_LIMIT, PROJECTION_LIMIT = 5.0, 30.0, 15.0
SYSTEM = "You answer from the library and cite pages. " * 40
NOW = "2026-12-01T12:00:00.000Z"
SUMMARY = "word " * 300
WORDS = (
    "the of and to in that observer bias effort sampling birds atlas survey records volunteers habitat season".split()
)

CONVERSATIONS = {
    "40 turns of talk": (40, 900, 0),
    "12 turns with long tool results": (12, 600, 6_000),
    "one huge paste, then talk": (25, 700, 0),
}
"""Turns, characters of a message, characters of a tool's result."""


def text(chance: random.Random, characters: int, marker: str) -> str:
    words = [marker]
    while sum(map(len, words)) + len(words) < characters:
        words.append(chance.choice(WORDS))
    return " ".join(words)


def branch(nodes: int, chance: random.Random, characters: int = 1_200, result: int = 0) -> list[Node]:
    """Questions and answers in turn, each with a marker of its own."""
    path: list[Node] = []
    for number in range(nodes):
        marker = f"marker{number:04}"
        parent = path[-1].id if path else None
        if number % 2 == 0:
            path.append(Node(f"n{number}", parent, "user", (TextPart(text(chance, characters // 3, marker)),), NOW))
            continue
        parts: tuple[Part, ...] = (TextPart(text(chance, characters, marker)),)
        if result:
            found = json.dumps({"text": text(chance, result, f"result{number:04}")})
            parts = (ToolCallPart(f"c{number}", "read_pages", '{"item": "ABCD2345"}', "done", found), *parts)
        path.append(Node(f"n{number}", parent, "assistant", parts, NOW, "bench", None, "stop"))
    return path


def cpu(rounds: int, work: Callable[[], object], prepare: Callable[[], None] = lambda: None) -> float:
    """Milliseconds of CPU, the median."""
    taken: list[float] = []
    for _ in range(rounds):
        prepare()
        begun = time.process_time()
        work()
        taken.append((time.process_time() - begun) * 1_000)
    return statistics.median(taken)


def measure(rounds: int) -> bool:
    path = branch(DEPTH, random.Random(1))
    tools = reading_tool_specs()
    capacity = Capacity(2_000_000, 32_000, True)
    counted = Counted()

    def preflight() -> None:
        projection = project(SYSTEM, tools, path, draft="And in winter?", counted=counted)
        policy = Policy(capacity, counted=counted)
        decision = policy.before_sending(policy.ground(path, {}, projection, model="bench", draft="And in winter?"))
        assert isinstance(decision, Send), decision

    def forget() -> None:
        counted.__init__()  # type: ignore[misc]

    uncounted = cpu(rounds, preflight, forget)
    projected = cpu(rounds, lambda: project(SYSTEM, tools, path, counted=counted))
    unchanged = cpu(rounds, preflight)
    figures = {
        "preflight, nothing changed": (unchanged, UNCHANGED_LIMIT),
        "preflight, nothing counted yet": (uncounted, UNCOUNTED_LIMIT),
        "projection of counted messages": (projected, PROJECTION_LIMIT),
    }
    print(f"a branch of {DEPTH:,} messages, {sum(len(node.text) for node in path) / 1e6:.1f} MB; ms of CPU")
    for name, (figure, limit) in figures.items():
        print(f"  {name:<34} {figure:6.1f} of {limit:4.1f}  {'holds' if figure <= limit else 'BROKEN'}")
    return all(figure <= limit for figure, limit in figures.values())


def ours(path: list[Node], window: int) -> dict[str, float]:
    """Our policy, by hand: where the boundary lies and what is read for the summary."""
    counted = Counted()
    projection = project("", (), path, counted=counted)
    policy = Policy(Capacity(window, window // 10, True), counted=counted)
    plan = policy.by_hand(policy.ground(path, {}, projection, model="bench"), Wish())
    assert isinstance(plan, Plan), plan
    kept = path[next(at for at, node in enumerate(path) if node.id == plan.first_kept_message_id) :]
    read = "".join(entry.text for entry in serialise(plan.source))
    known = [node for node in path if node in kept or f"marker{node.id[1:]:0>4}" in read]
    return {
        "kept": len(kept),
        "covered": len(known) / len(path),
        "tokens": sum(counted.tokens(node) for node in kept) + 300,
    }


def trueforge(path: list[Node], window: int) -> dict[str, float]:
    """All of the context is replaced by its summary."""
    return {"kept": 0, "covered": 1.0, "tokens": 300}


def langchain(python: str, path: list[Node], window: int) -> dict[str, float]:
    messages = [
        {
            "role": node.role,
            "text": node.text,
            "result": "".join(p.result for p in node.parts if isinstance(p, ToolCallPart)),
        }
        for node in path
    ]
    script = Path(__file__).with_name("peer_langchain.py")
    told = subprocess.run(
        [python, str(script)],
        input=json.dumps({"messages": messages, "window": window, "summary": SUMMARY}),
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(told.stdout.splitlines()[-1])
    return found


def result_of(node: Node) -> str:
    return "".join(part.result for part in node.parts if isinstance(part, ToolCallPart))


def compare(python: str) -> None:
    print("\nthe same conversations compacted: messages kept word for word, share kept or read, tokens after")
    for name, (turns, characters, result) in CONVERSATIONS.items():
        path = branch(2 * turns, random.Random(2), characters, result)
        if name.startswith("one huge"):
            path[2] = Node("n2", "n1", "user", (TextPart(text(random.Random(3), 60_000, "marker0002")),), NOW)
        counted = Counted()
        window = int(sum(counted.tokens(node) for node in path) / 0.85)
        print(f"  {name}, {len(path)} messages")
        for who, found in {
            "BibGenie": ours(path, window),
            "LangChain": langchain(python, path, window),
            "TrueForge": trueforge(path, window),
        }.items():
            kept, covered, tokens = found["kept"], found["covered"], found["tokens"]
            print(f"    {who:<10} kept {kept:3.0f}   covered {covered:6.1%}   {tokens:7,.0f} tokens")


def main() -> int:
    parser = argparse.ArgumentParser(description="What context compaction costs and keeps.")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--peer", metavar="PYTHON")
    arguments = parser.parse_args()
    holds = measure(arguments.rounds)
    if arguments.peer:
        compare(arguments.peer)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
