"""Pictures of the window's states in both themes, without an engine: `python packaging/screenshots.py OUTDIR`.

The events are the protocol's own; works and people in them are invented.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from chat_scenes import CHAT_SCENES, MIRRORED
from compaction_scenes import COMPACTION_SCENES, MIRRORED_COMPACTION
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QFont, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QMenu, QWidget

from bibgenie_desktop.protocol.commands import (
    VERSION,
    Command,
    EditMessage,
    FetchBodies,
    Fork,
    ListModels,
    ListSessions,
    OpenSession,
    SendMessage,
)
from bibgenie_desktop.protocol.events import (
    AnswerCitation,
    AnswerText,
    Branch,
    CommandFailed,
    Event,
    LibraryProgress,
    ModelList,
    ModelState,
    NodeBody,
    SessionList,
    SessionMade,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    Welcome,
)
from bibgenie_desktop.protocol.values import BranchRow, ModelRow, Segment, SessionRow
from bibgenie_desktop.ui.about import AboutDialog
from bibgenie_desktop.ui.chat.markdown_body import MarkdownBody
from bibgenie_desktop.ui.controller import Controller
from bibgenie_desktop.ui.link_dialog import LinkDialog
from bibgenie_desktop.ui.links import LinkRouter
from bibgenie_desktop.ui.theme import Theme
from bibgenie_desktop.ui.timing import qt_timers
from bibgenie_desktop.ui.window import MainWindow

NOW = datetime(2026, 11, 4, 14, 20).astimezone()
QUESTION = "Which biases do both papers agree on, and where do they differ? Keep the preprints out, as before."
LINK = "zotero://open-pdf/library/items/ABCD2345?page=4"
CHATS = (
    ("s1", "Sampling bias in citizen science", 3, timedelta()),
    ("s2", "Evidence table: observer effort", 12, timedelta(hours=2)),
    ("s3", "Reading group, week 9", 1, timedelta(days=3)),
    ("s4", "方法论综述", 5, timedelta(days=4)),
    ("s5", "Kapitel 3: Quellenkritik", 2, timedelta(days=5)),
    ("s6", "Screening, first pass", 41, timedelta(days=13)),
)


MODELS = (
    ModelRow("offline", "built in: needs no key and no network"),
    ModelRow("anthropic/some-model", "from the settings"),
    ModelRow("ollama/another-model", "used by chats"),
)
RICH = """## What the two works share

Both name **uneven observer effort** first; neither tests its remedy on *new* data.

1. Effort is counted in hours:
   - visits of less than an hour count as one,
   - repeated visits are added up, see `effort_hours`.
2. Weekends are over-represented.

> Uneven effort is not noise. It is a signal of where people like to be.

```python
model = smf.mixedlm("count ~ effort + season", birds, groups=birds["site"])
print(model.fit(reml=True).summary())  # the effort is significant
```

The model is $\\log \\lambda_i = \\alpha + \\beta e_i$, with a random intercept for each site[^1].

[^1]: Sites are counted once a season.
"""

Kind = TypeVar("Kind", bound=QObject)
LARGE = 20.0
"""Points of large letters."""
DRAWN_MILLISECONDS = 150
"""Longer than a window takes to draw what it was told."""


def no(_: object) -> None:
    """There are no pictures of formulas."""


class Stage:
    """A window whose engine is played: what it sends is answered with the events of a scene."""

    def __init__(self, dark: bool) -> None:
        self.owner = QObject()
        self.sent: list[Command] = []
        timers = qt_timers(self.owner)
        theme = Theme(self.owner)
        self.controller = Controller(self.sent.append, lambda: NOW, timers, self.owner)
        self.window = MainWindow(
            self.controller, theme, LinkRouter(self.owner), lambda: NOW, timers, MarkdownBody(no, no)
        )
        self.window.resize(1180, 800)
        self.window.show()
        scheme = Qt.ColorScheme.Dark if dark else Qt.ColorScheme.Light
        QGuiApplication.styleHints().colorSchemeChanged.emit(scheme)

    def play(self, *events: Event) -> None:
        """Let the engine say this."""
        for event in events:
            self.controller.take(event)

    def find(self, kind: type[Kind], name: str) -> Kind:
        """A widget of the window."""
        found = self.window.findChild(kind, name)
        assert found is not None, name
        return found

    def do(self, name: str) -> None:
        """Choose an action of the menus."""
        self.find(QAction, name).trigger()

    def welcome(self) -> None:
        """Let the engine answer, with some chats and a ready library."""
        self.play(Welcome(VERSION, "0", "profile", "My Library", "offline"))
        request = next(command.request for command in reversed(self.sent) if isinstance(command, ListSessions))
        rows = tuple(
            SessionRow(name, title, turns, 0, None, 1, None, (NOW - ago).isoformat())
            for name, title, turns, ago in CHATS
        )
        self.play(
            SessionList(rows, False, request),
            LibraryProgress("ready", 24, 24, "412 works and 9,310 pages are indexed."),
        )
        models = next(command.request for command in reversed(self.sent) if isinstance(command, ListModels))
        self.play(ModelList(MODELS, "offline", models), ModelState("offline", "ready"))

    def ask(self, question: str = QUESTION) -> None:
        """Ask, and let the answer begin."""
        self.controller.submit(question)
        request = next(command.request for command in reversed(self.sent) if isinstance(command, SendMessage))
        self.play(TurnStarted("s1", "n1", CHATS[0][1], "offline", request=request))

    def request(self, kind: type[Command]) -> int:
        """The number of the last command of a kind."""
        return next(command.request for command in reversed(self.sent) if isinstance(command, kind))

    def open_chat(self, *messages: tuple[BranchRow, str], damage: str = "") -> None:
        """Open a stored chat."""
        self.welcome()
        self.controller.open_session("s2")
        rows, bodies = tuple(row for row, _ in messages), {row.node_id: text for row, text in messages}
        self.play(Branch("s2", CHATS[1][1], 1, rows, damage=damage, request=self.request(OpenSession)))
        self.controller.look_at_all()
        for command in [each for each in self.sent if isinstance(each, FetchBodies)]:
            for node_id in command.node_ids:
                self.play(NodeBody(node_id, (Segment("text", bodies[node_id]),), request=command.request))

    def choose(self, row: int) -> None:
        """Make a message the current one, as the keyboard does."""
        self.window.activateWindow()
        self.window.message_list.setFocus()
        self.window.message_list.set_current_row(row)

    def cite(self, label: str, state: str = "verified", reason: str = "") -> None:
        """Let the answer cite."""
        self.play(AnswerCitation("s1", label, LINK, state, reason, "", None))  # type: ignore[arg-type]

    def search(self, query: str, call_id: str, done: str = "") -> None:
        """Let a tool run, to its end if `done` is given."""
        self.play(ToolStarted("s1", call_id, "search_library", f"Search the library for “{query}”"))
        if done:
            self.play(ToolFinished("s1", call_id, "done", done, 420))


def empty(stage: Stage) -> None:
    """Nothing has been asked yet."""
    stage.welcome()


def indexing(stage: Stage) -> None:
    """The library is being read for the first time."""
    stage.play(Welcome(VERSION, "0", "profile", "My Library", "offline"))
    stage.play(LibraryProgress("indexing", 11, 24, "Indexing document 12 of 24…"))


def streaming(stage: Stage) -> None:
    """An answer comes, while the next question is being written."""
    stage.welcome()
    stage.ask()
    stage.search("observer effort", "c1", "12 passages")
    stage.search("uneven sampling", "c2")
    stage.play(AnswerText("s1", "Both treat uneven observer effort as the main source of bias: sites near roads and "))
    stage.window.composer.setPlainText("Show me the passage on p. 150 and check whether the covariate is really effort")


def answered(stage: Stage) -> None:
    """An answer with citations in every state, a list, and another script."""
    stage.welcome()
    stage.ask()
    stage.search("observer effort", "c1", "12 passages")
    stage.play(
        AnswerText(
            "s1",
            "Both treat uneven observer effort as the main source of bias: sites near roads are visited more often ",
        )
    )
    stage.cite("Hale 2010, p. 152")
    stage.play(AnswerText("s1", ", and effort changes over the season "))
    stage.cite("Okafor 2014, p. xii")
    stage.play(AnswerText("s1", ". They differ in the remedy:\n\n| Work | Remedy | Evidence |\n|--|--|--|\n"))
    stage.play(AnswerText("s1", "| Hale 2010 | training and protocols | "))
    stage.cite("p. 159")
    stage.play(AnswerText("s1", " |\n| Okafor 2014 | mixed models with effort as covariate | "))
    stage.cite("p. 150", "unverified", "this page was not read in this chat")
    stage.play(AnswerText("s1", " |"))
    stage.play(
        AnswerText("s1", "\n\nThe share of records within 1 km of a road, 62 %, is reported only in the second ")
    )
    stage.cite("Okafor 2014, p. 148", "wrong", "the quoted words do not stand at this page")
    stage.play(AnswerText("s1", ".\n\nيختلف الجهد باختلاف الموسم "))
    stage.cite("Haddad 2018, p. 7")
    stage.play(AnswerText("s1", ".\n观察者的努力随季节变化。"))
    stage.play(TurnFinished("s1", "n2", "stop", 3000, 100, True))


def failed(stage: Stage) -> None:
    """A provider refused, and a question was not taken."""
    stage.welcome()
    stage.ask()
    stage.search("observer effort", "c1", "12 passages")
    stage.play(
        TurnFailed("s1", "authentication", "The provider does not accept the key: check OPENAI_API_KEY and ask again.")
    )
    stage.controller.submit("And now?")
    request = next(command.request for command in reversed(stage.sent) if isinstance(command, SendMessage))
    stage.play(
        CommandFailed(
            "too_large",
            "The request would be about 2,310 tokens larger than the model takes; nothing was sent and your question "
            "is kept as the draft: shorten it, or choose a model with a larger window.",
            request,
        )
    )


def lost(stage: Stage) -> None:
    """The engine died in the middle of an answer and is not started again."""
    stage.welcome()
    stage.ask()
    stage.play(AnswerText("s1", "Both treat uneven observer effort as the main "))
    stage.controller.engine_ended("The engine ended unexpectedly; what was stored is safe.", False)


def asked(node_id: str, version: int = 1, versions: int = 1) -> BranchRow:
    """A stored question."""
    beside = ("before" if version > 1 else "", "after" if version < versions else "")
    return BranchRow(
        node_id, "user", (NOW - timedelta(hours=3)).isoformat(), None, None, 90, version, versions, *beside
    )


def said(node_id: str, stop_reason: str = "stop", version: int = 1, versions: int = 1) -> BranchRow:
    """A stored answer."""
    beside = ("before" if version > 1 else "", "after" if version < versions else "")
    written = (NOW - timedelta(hours=3)).isoformat()
    return BranchRow(node_id, "assistant", written, "offline", stop_reason, 200, version, versions, *beside)


BIAS = (
    "Both treat uneven observer effort as the main source of bias: sites near roads are visited more often, and effort "
    "changes over the season."
)
CUT_OFF = "Both treat uneven observer effort as the main source of bias: sites near roads are visited"
DAMAGE = "A message of this chat cannot be read: what stands above it is safe, and nothing was changed."


def versions(stage: Stage) -> None:
    """A question and an answer of which there are several."""
    stage.open_chat(
        (asked("n1", 2, 3), QUESTION),
        (said("n2"), BIAS),
        (asked("n3"), "And the remedy?"),
        (said("n4", version=3, versions=3), "They differ: training and protocols in one, mixed models in the other."),
    )
    stage.choose(3)


def editing(stage: Stage) -> None:
    """A question is asked in another way, in its place."""
    stage.open_chat((asked("n1", 2, 3), QUESTION), (said("n2"), BIAS), (asked("n3"), "And the remedy?"))
    stage.choose(0)
    stage.do("editAction")
    QTest.keyClicks(stage.find(QWidget, "editBox"), " And name the pages at which each of them says so, in a table.")


def edit_refused(stage: Stage) -> None:
    """The engine did not take the question that was asked in another way."""
    editing(stage)
    QTest.keyClick(stage.find(QWidget, "editBox"), Qt.Key.Key_Return)
    sentence = "Another window answers in this chat: wait for it. What you wrote is kept here."
    stage.play(CommandFailed("leased", sentence, stage.request(EditMessage)))


def interrupted(stage: Stage) -> None:
    """An answer that was interrupted by a crash."""
    stage.open_chat(
        (asked("n1"), QUESTION),
        (said("n2", "cancelled"), BIAS),
        (asked("n3"), QUESTION),
        (said("n4", "interrupted"), CUT_OFF),
    )
    stage.choose(1)


def unanswered(stage: Stage) -> None:
    """A question that nothing came of."""
    stage.open_chat((asked("n1"), QUESTION), (said("n2"), BIAS), (asked("n3"), "And the remedy?"))
    stage.choose(2)


def damaged(stage: Stage) -> None:
    """A chat that can only be read."""
    stage.open_chat((asked("n1"), QUESTION), (said("n2"), BIAS), damage=DAMAGE)


def forked(stage: Stage) -> None:
    """A chat that was made from another just now."""
    stage.open_chat((asked("n1"), QUESTION), (said("n2"), BIAS))
    stage.choose(1)
    stage.do("forkAction")
    stage.play(SessionMade("s7", CHATS[1][1], stage.request(Fork)))
    rows = (asked("n1"), said("n2"))
    stage.play(Branch("s7", CHATS[1][1], 1, rows, request=stage.request(OpenSession)))
    stage.controller.look_at_all()
    bodies = {"n1": QUESTION, "n2": BIAS}
    for node_id, text in bodies.items():
        stage.play(NodeBody(node_id, (Segment("text", text),), request=stage.request(FetchBodies)))


def queued(stage: Stage) -> None:
    """Questions wait for the end of an answer."""
    streaming(stage)
    stage.window.composer.setPlainText("Show me the passage on p. 150 and check whether the covariate is really effort")
    QTest.keyClick(stage.window.composer, Qt.Key.Key_Return)
    QTest.keyClicks(stage.window.composer, "Then a table of both.")
    QTest.keyClick(stage.window.composer, Qt.Key.Key_Return)


def message_menu(stage: Stage) -> None:
    """What can be done with an older answer."""
    versions(stage)
    stage.window.message_list.set_current_row(1)
    menu = stage.window.message_list.context_menu("")
    menu.setObjectName("shownMenu")
    menu.popup(stage.window.mapToGlobal(stage.window.rect().center()))


def branches_from_the_right(stage: Stage) -> None:
    """A question asked in another way, in the smallest window of a language that is written from the right."""
    stage.window.resize(stage.window.minimumSize())
    versions(stage)
    stage.choose(0)


def editing_narrow(stage: Stage) -> None:
    """A question asked in another way in the smallest window."""
    stage.window.resize(stage.window.minimumSize())
    editing(stage)


def narrow(stage: Stage) -> None:
    """The answer in the smallest window."""
    stage.window.resize(stage.window.minimumSize())
    answered(stage)


def crowded(stage: Stage) -> None:
    """The smallest window with all at once: a long sentence, a long question, a long name of a model, indexing."""
    stage.window.resize(stage.window.minimumSize())
    stage.welcome()
    name = "provider/a-model-with-a-rather-long-name"
    stage.play(ModelList((*MODELS, ModelRow(name, "used by chats")), name), ModelState(name, "loading"))
    stage.play(LibraryProgress("indexing", 11, 24, "Indexing document 12 of 24…"))
    stage.window.composer.setPlainText("\n".join(f"{number}. Which biases?" for number in range(1, 10)))
    stage.controller.say("The provider answered: " + "the request is not valid for this model; " * 20)


def large(stage: Stage) -> None:
    """Nothing has been asked yet, in the smallest window of somebody who reads large letters."""
    stage.window.resize(stage.window.minimumSize())
    stage.welcome()
    stage.do("searchSessionsAction")


def right_to_left(stage: Stage) -> None:
    """The window in a language that is written from the right."""
    answered(stage)
    stage.controller.say("The provider does not accept the key: check OPENAI_API_KEY and ask again.")


def rich(stage: Stage) -> None:
    """An answer with all that Markdown offers, found in, in the middle of being found in."""
    stage.welcome()
    stage.ask("What do the two works share?")
    stage.play(AnswerText("s1", RICH), TurnFinished("s1", "n2", "stop", 3000, 100, True))
    stage.do("findAction")
    stage.find(QLineEdit, "findField").setText("effort")
    QTest.keyClick(stage.find(QLineEdit, "findField"), Qt.Key.Key_Return)


def searching(stage: Stage) -> None:
    """A chat is looked for, and one is being renamed."""
    stage.welcome()
    stage.find(QLineEdit, "sessionSearch").setText("sampling")
    stage.window.session_list.rename("s1")


def models(stage: Stage) -> None:
    """The models that can be chosen."""
    stage.welcome()
    stage.find(QMenu, "modelMenu").popup(stage.window.mapToGlobal(stage.window.rect().center()))


def other_model(stage: Stage) -> None:
    """Any other model."""
    stage.welcome()
    stage.do("otherModelAction")


def web_page(stage: Stage) -> None:
    """A web page is asked about."""
    stage.welcome()
    LinkDialog("https://example.org/articles/2010?id=152", stage.window).open()


def shortcuts(stage: Stage) -> None:
    """What the keys do."""
    stage.welcome()
    stage.do("shortcutsAction")


def about(stage: Stage) -> None:
    """What Help tells."""
    stage.welcome()
    AboutDialog(stage.window).open()


SCENES: tuple[Callable[[Stage], None], ...] = (
    empty,
    indexing,
    streaming,
    answered,
    rich,
    failed,
    lost,
    versions,
    editing,
    edit_refused,
    editing_narrow,
    interrupted,
    unanswered,
    damaged,
    forked,
    queued,
    message_menu,
    branches_from_the_right,
    narrow,
    crowded,
    large,
    right_to_left,
    searching,
    models,
    other_model,
    web_page,
    shortcuts,
    about,
    *CHAT_SCENES,
    *COMPACTION_SCENES,
)


def main(folder: Path, *names: str) -> None:
    """Write one picture of each state in each theme, or of those named."""
    application = QApplication(sys.argv[:1])
    application.setQuitOnLastWindowClosed(False)
    usual = application.font()
    folder.mkdir(parents=True, exist_ok=True)
    for dark in (False, True):
        for scene in (each for each in SCENES if not names or each.__name__ in names):
            font = QFont(usual)
            font.setPointSizeF(LARGE if scene is large else usual.pointSizeF())
            application.setFont(font)
            mirrored = scene in (right_to_left, branches_from_the_right, *MIRRORED, *MIRRORED_COMPACTION)
            application.setLayoutDirection(
                Qt.LayoutDirection.RightToLeft if mirrored else Qt.LayoutDirection.LeftToRight
            )
            stage = Stage(dark)
            scene(stage)
            QTest.qWait(DRAWN_MILLISECONDS)
            popover = stage.find(QWidget, "contextPopover")
            menus = (stage.find(QMenu, "modelMenu"), stage.window.findChild(QMenu, "shownMenu"), popover)
            menu = next((each for each in menus if each is not None and each.isVisible()), None)
            shown = menu or stage.window.findChild(QDialog) or stage.window
            shown.grab().save(str(folder / f"{scene.__name__}-{'dark' if dark else 'light'}.png"))
            stage.window.deleteLater()
            stage.owner.deleteLater()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
