"""What a process acknowledged, held against what is found after it was killed (T-6)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bibgenie_desktop.store.sessions import NEW_SESSION
from tests.store.acts import Claim
from tests.store.whole import nodes_of, state


class Promises:
    """Reads the lines of a writer, one at a time on a history, and compares. `acts` counts what was acknowledged."""

    def __init__(self) -> None:
        self.acts = 0
        self._sessions: dict[str, dict[str, Any]] = {}
        self._nodes: dict[str, set[str]] = {}
        self._deleted: dict[str, dict[str, Any]] = {}
        self._pending: str | None = None
        self._is_new = False

    def hear(self, lines: Iterable[str]) -> None:
        """What was told until the process ended, whole lines only."""
        for line in lines:
            mark, _, rest = line.partition(" ")
            if mark == "?":
                act, _, self._pending = rest.partition(" ")
                self._is_new = act in ("begin", "fork")
            elif mark == "!":
                self._keep(Claim.from_line(rest))
                self._pending, self._is_new = None, False
            else:
                assert line == "ready", line

    def _keep(self, claim: Claim) -> None:
        self.acts += 1
        if claim.is_deleted:
            self._deleted[claim.session] = self._sessions.pop(claim.session, {})
            return
        if claim.act == "undo":
            self._sessions[claim.session] = self._deleted.pop(claim.session, {})
        self._nodes.setdefault(claim.session, set()).update(claim.added)
        if claim.session == NEW_SESSION:
            return  # the draft of a chat that does not exist yet, say
        known = self._sessions.setdefault(claim.session, {})
        for key in ("leaf", "revision", "title", "draft"):
            value = getattr(claim, key)
            if value is not None:
                known[key] = value

    def check(self, path: Path) -> None:
        """Everything that was promised is there; of the act that was not acknowledged all is there or nothing."""
        found, stored = state(path), nodes_of(path)
        assert len(found.keys() - self._sessions.keys() - {self._pending}) <= self._is_new
        for session_id, known in self._sessions.items():
            if session_id == self._pending:
                if session_id in found and "revision" in known:
                    assert found[session_id]["revision"] - known["revision"] in (0, 1)
                continue
            assert {key: found[session_id][key] for key in known} == known, session_id
            assert self._nodes.get(session_id, set()) <= stored.get(session_id, set()), session_id
        # Whatever became of the act that was not acknowledged is a promise from now on.
        self._sessions, self._nodes, self._pending, self._is_new = found, stored, None, False
