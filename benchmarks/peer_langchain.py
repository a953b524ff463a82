"""LangChain's summarisation middleware as it comes, on a conversation from stdin: for `bench_compaction`.

Runs in an environment of its own, in which `langchain` is installed. Reads `messages` (role, text, result of a tool),
`window` and the `summary` that the model will write; prints what was kept and covered as JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from langchain.agents.middleware import SummarizationMiddleware  # type: ignore[import-not-found]
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel  # type: ignore[import-not-found]
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage  # type: ignore[import-not-found]

CHARACTERS_OF_A_TOKEN = 4


class Recording(GenericFakeChatModel):  # type: ignore[misc]
    """Answers with the summary and remembers what it was asked."""

    asked: list[str] = []  # noqa: RUF012 - a field of pydantic

    def _generate(self, messages: list[Any], *args: Any, **more: Any) -> Any:
        self.asked.append("".join(str(message.content) for message in messages))
        return super()._generate(messages, *args, **more)


def conversation(stored: list[dict[str, str]]) -> list[Any]:
    messages: list[Any] = []
    for number, each in enumerate(stored):
        if each["role"] == "user":
            messages.append(HumanMessage(each["text"], id=f"n{number}"))
            continue
        if each["result"]:
            call = {"name": "read_pages", "args": {}, "id": f"c{number}"}
            messages.append(AIMessage("", tool_calls=[call], id=f"t{number}"))
            messages.append(ToolMessage(each["result"], tool_call_id=f"c{number}", id=f"r{number}"))
        messages.append(AIMessage(each["text"], id=f"n{number}"))
    return messages


def main() -> None:
    given = json.load(sys.stdin)
    stored = given["messages"]
    model = Recording(messages=iter([AIMessage(given["summary"])] * 50))
    middleware = SummarizationMiddleware(model=model, trigger=("tokens", int(given["window"] * 0.5)))
    changed = middleware.before_model({"messages": conversation(stored)}, None)
    after = changed["messages"] if changed else conversation(stored)
    kept = [message for message in after if not isinstance(message, RemoveMessage)]
    seen = "".join(str(message.content) for message in kept) + "".join(model.asked)
    covered = sum(f"marker{number:04}" in seen for number in range(len(stored)))
    words = [message for message in kept if str(message.id or "").startswith("n")]
    tokens = sum(len(str(message.content)) for message in kept) // CHARACTERS_OF_A_TOKEN
    print(json.dumps({"kept": len(words), "covered": covered / len(stored), "tokens": tokens}))


if __name__ == "__main__":
    main()
