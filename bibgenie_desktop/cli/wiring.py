"""Building an engine from options, settings and environment: every part once, wired here and nowhere else."""

from __future__ import annotations

import logging
import os
import re
import sys
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from ..compaction.policy import When
from ..documents.formula_workers import FormulaWorkers
from ..documents.pool import DocumentWorkers
from ..engine.agent.prompts import system_prompt
from ..engine.contexts import CompactionSettings
from ..engine.engine import Engine
from ..engine.leases import SessionLeases
from ..engine.library.index import LibraryIndex
from ..engine.models import ModelChoice
from ..engine.owners import has_ended, owner_name, this_place
from ..models.catalogue import open_model
from ..models.offline import NAME as OFFLINE
from ..models.offline import OfflineAssistant
from ..models.port import Model
from ..profile.paths import Profile, find_profile, resources
from ..profile.settings import Settings, SettingsUnreadable, load_settings, store_model, store_setting
from ..protocol.events import Event
from ..store.leases import LeaseStore
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

    def own_options(self, model: str) -> Options:
        """The options as they hold for this model: address and figures are given for the model of the start alone."""
        own = model == self.model_name()
        return self.options if own else replace(self.options, api_base=None, context_window=None, max_output=None)

    def api_base(self, model: str) -> str | None:
        """The address for this model, None for its provider's own: no key may go to another model's (S-2)."""
        return self.own_options(model).api_base or self.settings.address(model) or None

    def model(self, name: str | None = None) -> Model:
        """The model of that name, or the one to start with."""
        name = name or self.model_name()
        options = self.own_options(name)
        return open_model(
            name,
            offline=OfflineAssistant,
            environ=os.environ,
            api_base=self.api_base(name),
            context_window=options.context_window,
            max_output=options.max_output,
        )

    def store_model(self, name: str) -> None:
        """Keep a choice for the next start, with the address that an option gave it. Raises SettingsUnreadable."""
        store_model(self.profile.settings, name, self.own_options(name).api_base or "")

    def describe_model(self, name: str) -> str:
        """Where a model's name comes from and where its questions go, in a few words."""
        if name == OFFLINE:
            return "built in, needs no key and no network"
        address = self.api_base(name)
        source = {self.settings.model: "from the settings", self.options.model: "from the command line"}.get(name)
        return ", ".join(filter(None, (source, f"at {_host(address)}" if address else "at its provider's address")))

    def models(self, sessions: SessionStore, emit: Callable[[Event], None]) -> ModelChoice:
        """The model to start with, and those to choose from."""
        return ModelChoice(
            self.model_name(),
            open_model=self.model,
            store=self.store_model,
            describe=self.describe_model,
            offered=[name for name in (OFFLINE, self.settings.model, self.options.model) if name],
            used=sessions.last_models,
            emit=emit,
        )

    def route(self, model: str) -> str:
        """Where a model's questions go, "" for its provider's own address."""
        return _host(self.api_base(model) or "")

    def compaction(self, *, automatic: bool) -> CompactionSettings:
        """What was chosen of context compaction."""
        chosen = self.settings
        when: When = "always" if chosen.compact_when == "always" and automatic else "sending"
        return CompactionSettings(
            "never" if chosen.compact_when == "never" else when,
            chosen.summary_model,
            chosen.compact_at,
            chosen.thresholds,
            chosen.rebuild_every,
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


def _host(address: str) -> str:
    """Host and port of an address, without what may stand before them: a password, say."""
    authority = re.split(r"[/?#]", address.partition("://")[2] or address, maxsplit=1)[0]
    return authority.rpartition("@")[2]


def document_workers() -> DocumentWorkers:
    """A reader whose worker process is started at its first document."""
    return DocumentWorkers(lambda: ChildProcess.start(child_argv("documents")))


def formula_workers() -> FormulaWorkers:
    """A drawer whose worker process is started at its first formula."""
    return FormulaWorkers(lambda: ChildProcess.start(child_argv("documents")))


def session_leases(sessions: SessionStore) -> SessionLeases:
    """The leases of an engine of this process."""
    place = this_place()
    owner = owner_name(new_id(), os.getpid(), place)
    return SessionLeases(
        LeaseStore(sessions.database, owner=owner, clock=now, has_ended=lambda other: has_ended(other, place))
    )


@asynccontextmanager
async def open_sessions(setting: Setting) -> AsyncIterator[SessionStore]:
    """The history alone. Raises StoreUnavailable."""
    sessions = await SessionStore.open(setting.profile.sessions, clock=now, new_id=new_id)
    try:
        yield sessions
    finally:
        await sessions.close()


@asynccontextmanager
async def open_engine(
    setting: Setting, emit: Callable[[Event], None], *, automatic: bool = False
) -> AsyncIterator[Engine]:
    """A whole engine; when it is left, answers that stream are kept and everything is closed.

    `automatic`: it lives on after an answer, so that it can compact then; else it does so before the next one is sent.

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
                leases=session_leases(sessions),
                index=index,
                formulas=formula_workers(),
                models=setting.models(sessions, emit),
                system=system_prompt(resources()),
                profile=str(setting.profile.folder),
                emit=emit,
                keep_days=setting.settings.keep_days,
                compaction=setting.compaction(automatic=automatic),
                route=setting.route,
                clock=now,
            )
            try:
                yield engine
            finally:
                await engine.close()
        finally:
            await library.close()
