"""A history in which there is something to do for every act of `acts`, and where (T-6)."""

from __future__ import annotations

import random
from pathlib import Path

from bibgenie_desktop.sessions.parts import TextPart
from tests.store.acts import Hand
from tests.store.compactions import compact
from tests.store.histories import answer, ask, opened, talk

WHERE = {
    "begin": "",
    "ask": "talk",
    "note": "streaming",
    "answer": "streaming",
    "retry": "talk",
    "go_on": "interrupted",
    "edit": "talk",
    "fork": "talk",
    "switch": "talk",
    "give_up": "retried",
    "recover": "streaming",
    "compact": "settled",
    "compact_and_retry": "settled",
    "take_back": "asked",
    "log_run": "settled",
    "draft": "talk",
    "rename": "talk",
    "acquire": "talk",
    "release": "streaming",
    "propose": "talk",
    "approve": "talk",
    "pin": "talk",
    "archive": "talk",
    "delete": "talk",
    "undo": "deleted",
    "purge": "deleted",
    "sweep": "",
}
"""In which of the sessions below each act changes something; `wipe`, which is no single transaction, is left out."""


async def prepare(path: Path) -> dict[str, str]:
    """Make the history; its sessions' ids by name."""
    async with opened(path) as store:
        hand = Hand(store, random.Random(1))
        talked, ids = await talk(store, 3)
        await store.tree.edit(talked, ids[2], [TextPart("asked in another way")], model="m")
        await answer(store, talked, str((await store.session(talked)).leaf_id))
        await store.tree.fork(talked, ids[1])
        await store.drafts.save(talked, "an older draft")
        await hand.do("propose", talked)
        streaming, question = await ask(store)
        await store.journal.note(streaming, question, [TextPart("half of it")])
        await hand.do("acquire", streaming)
        retried, ids = await talk(store, 1)
        await store.tree.retry(retried, ids[1], model="m")
        interrupted, question = await ask(store)
        await store.append_assistant(
            interrupted, question, [TextPart("half")], model="m", usage=None, stop_reason="interrupted"
        )
        settled, ids = await talk(store, 4)
        await compact(store, settled, ids[2])
        _, question = await ask(store, settled)
        await answer(store, settled, question)
        asked, _ = await talk(store, 1)
        await ask(store, asked)
        await store.drafts.save(asked, "typed meanwhile")
        deleted, ids = await talk(store, 2)
        await store.tree.fork(deleted, ids[1])
        await hand.do("propose", deleted)
        purged, _ = await talk(store, 1)
        for each in (deleted, purged):
            await hand.do("delete", each)
        await hand.do("purge", purged)
        await store.drafts.save(purged, "written when it was gone")
    return {
        "": "",
        "talk": talked,
        "streaming": streaming,
        "retried": retried,
        "interrupted": interrupted,
        "settled": settled,
        "asked": asked,
        "deleted": deleted,
    }
