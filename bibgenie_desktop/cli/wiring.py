"""Building an engine from options, settings and environment: every part once, wired here and nowhere else."""

from __future__ import annotations

import logging
import os
import sys
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ..documents.pool import DocumentWorkers
from ..engine.agent.prompts import system_prompt
from ..engine.engine import Engine
from ..engine.library.index import LibraryIndex
from ..models.catalogue import open_model
from ..models.offline import NAME as OFFLINE
from ..models.offline import OfflineAssistant
from ..models.port import Model
from ..profile.paths import Profile, find_profile, resources
from ..profile.settings import Settings, SettingsUnreadable, load_settings, store_setting
from ..protocol.messages import Event
from ..store.library import LibraryStore
from ..store.sessions import SessionStore
from ..transport.child import ChildProcess
from ..zotero.port import LibrarySource, ZoteroUnavailable
from ..zotero.sources import open_source
from .options import Options
from .roles import child_argv

_log = logging.getLogger(__name__)


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def new_id() -> str:
    """A random id of 32 hexadecimal digits."""
    return uuid.uuid4().hex


@dataclass(frozen=True, slots=True)
class Setting:
    """Where and with what this process works."""

    profile: Profile
    settings: Settings
    options: Options

    @classmethod
    def of(cls, options: Options) -> Setting:
        """From the options. Raises SettingsUnreadable."""
        profile = find_profile(options.profile, os.environ)
        profile.make()
        return cls(profile, load_settings(profile.settings), options)

    def model_name(self) -> str:
        """The chosen model: the option, else the setting, else the offline assistant."""
        return self.options.model or self.settings.model or OFFLINE

    def api_base(self, model: str) -> str | None:
        """The address for this model. One in the settings belongs to the model there: no other key may go to it."""
        return self.options.api_base or (self.settings.api_base if model == self.settings.model else "") or None

    def model(self) -> Model:
        """The chosen model."""
        return open_model(
            self.model_name(),
            offline=OfflineAssistant,
            environ=os.environ,
            api_base=self.api_base(self.model_name()),
            context_window=self.options.context_window,
            max_output=self.options.max_output,
        )

    def source(self) -> LibrarySource:
        """The chosen library. Raises ZoteroUnavailable."""
        choice = self.options.zotero or self.settings.zotero
        try:
            return open_source(
                choice,
                demo_directory=resources() / "demo",
                home=Path.home(),
                environ=os.environ,
                platform=sys.platform,
                clock=now,
                real_library_used=self.settings.real_library_used,
            )
        except ValueError as error:  # the command line was checked, so it is the settings that name no source
            raise ZoteroUnavailable(
                f"The settings name no Zotero library: zotero.source is {choice!r}; write auto, demo or sqlite:PATH "
                f"in {self.profile.settings}."
            ) from error

    def remember(self, source: LibrarySource) -> None:
        """Note that a real library was read: from then on `auto` never falls back to the demo library (Z-1)."""
        if source.kind == "demo" or self.settings.real_library_used:
            return
        try:
            store_setting(self.profile.settings, "real_library_used", True)
        except SettingsUnreadable as error:
            _log.error("%s", error)  # the library is read all the same


def document_workers() -> DocumentWorkers:
    """A reader whose worker process is started at its first document."""
    return DocumentWorkers(lambda: ChildProcess.start(child_argv("documents")))


@asynccontextmanager
async def open_sessions(setting: Setting) -> AsyncIterator[SessionStore]:
    """The history alone. Raises StoreUnavailable."""
    sessions = await SessionStore.open(setting.profile.sessions, clock=now, new_id=new_id)
    try:
        yield sessions
    finally:
        await sessions.close()


@asynccontextmanager
async def open_engine(setting: Setting, emit: Callable[[Event], None]) -> AsyncIterator[Engine]:
    """A whole engine; when it is left, answers that stream are kept and everything is closed.

    Raises StoreUnavailable.
    """
    async with open_sessions(setting) as sessions:
        library = await LibraryStore.open(setting.profile.library)
        try:
            index = LibraryIndex(
                open_source=setting.source,
                store=library,
                indexing=document_workers(),
                reading=document_workers(),
                report=emit,
                remember=setting.remember,
            )
            engine = Engine(
                sessions=sessions,
                index=index,
                model=setting.model(),
                system=system_prompt(resources()),
                profile=str(setting.profile.folder),
                emit=emit,
            )
            try:
                yield engine
            finally:
                await engine.close()
        finally:
            await library.close()
