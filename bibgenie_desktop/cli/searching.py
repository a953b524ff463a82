"""`search`: the history of all chats, searched (T-8)."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from ..engine.history import history_hit
from ..store.sessions import SessionStore
from .options import Options
from .printing import printable


async def search(options: Options, sessions: SessionStore) -> int:
    """Print the messages that hold the words, the best first."""
    found = await sessions.search.find(options.text)
    hits = [history_hit(hit) for hit in found.hits]
    if options.json:
        print(json.dumps([asdict(hit) for hit in hits], ensure_ascii=False, indent=1))
        return 0
    for hit in hits:
        when = hit.created_at[:16].replace("T", " ")
        notes = [note for note, holds in (("archived", hit.is_archived), ("other branch", not hit.is_active)) if holds]
        about = f"  ({', '.join(notes)})" if notes else ""
        print(printable(f"{hit.session_id[:12]}  {hit.node_id[:12]}  {when}  {hit.title}{about}"))
        print(printable(f"    {hit.before}{_marked(hit.match)}{hit.after}"))
    if not hits:
        print("Nothing was found.", file=sys.stderr)
    elif found.is_cut:
        print(f"These are the best {len(hits)}: give more words to find others.", file=sys.stderr)
    return 0


def _marked(match: str) -> str:
    return f"→{match}←" if match else ""
