"""Everything that can be done in the window, as actions in menus with their keys. Nothing is done here."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

translate = QCoreApplication.translate


@dataclass(frozen=True, slots=True)
class Actions:
    """The actions of the window; `copy` is the message's, `copy_text` the selected text's."""

    new: QAction
    rename: QAction
    quit: QAction
    undo: QAction
    redo: QAction
    cut: QAction
    copy_text: QAction
    paste: QAction
    select_all: QAction
    find: QAction
    find_next: QAction
    find_previous: QAction
    send: QAction
    stop: QAction
    copy: QAction
    recall: QAction
    newest: QAction
    chats: QAction
    search: QAction
    compose: QAction
    shortcuts: QAction
    about: QAction


def make_actions(window: QMainWindow) -> Actions:
    """Makes the actions of a window."""

    def action(name: str, text: str, *keys: QKeySequence | QKeySequence.StandardKey | Qt.Key | str) -> QAction:
        made = QAction(text, window)
        made.setObjectName(name)
        sequences = [each for key in keys for each in _sequences(key)]
        if sequences:
            made.setShortcuts(sequences)
        return made

    standard = QKeySequence.StandardKey
    actions = Actions(
        new=action("newSessionAction", translate("Menu", "&New chat"), standard.New),
        rename=action("renameSessionAction", translate("Menu", "&Rename chat"), Qt.Key.Key_F2),
        quit=action("quitAction", translate("Menu", "&Quit"), "Ctrl+Q"),
        undo=action("undoAction", translate("Menu", "&Undo"), standard.Undo),
        redo=action("redoAction", translate("Menu", "&Redo"), standard.Redo),
        cut=action("cutAction", translate("Menu", "Cu&t"), standard.Cut),
        copy_text=action("copyTextAction", translate("Menu", "&Copy"), standard.Copy),
        paste=action("pasteAction", translate("Menu", "&Paste"), standard.Paste),
        select_all=action("selectAllAction", translate("Menu", "Select &all"), standard.SelectAll),
        find=action("findAction", translate("Menu", "&Find in this chat"), standard.Find),
        find_next=action("findNextAction", translate("Menu", "Find &next"), Qt.Key.Key_F3, "Ctrl+G"),
        find_previous=action("findPreviousAction", translate("Menu", "Find pre&vious"), "Shift+F3", "Ctrl+Shift+G"),
        # Enter belongs to the composer, as does the up key; the menu only shows them.
        send=action("sendAction", translate("Menu", "&Send") + "\t" + translate("Menu", "Enter")),
        stop=action("stopAction", translate("Menu", "S&top"), Qt.Key.Key_Escape),
        copy=action("copyAction", translate("Menu", "Copy &message"), "Ctrl+Shift+C"),
        recall=action("recallAction", translate("Menu", "&Last question again") + "\t↑"),
        newest=action("newestAction", translate("Menu", "Go to the &newest message"), "Ctrl+End"),
        chats=action("chatsAction", translate("Menu", "&Chats at the side"), "Ctrl+B"),
        search=action("searchSessionsAction", translate("Menu", "&Search chats"), "Ctrl+K"),
        compose=action("composeAction", translate("Menu", "&Write a question"), "Ctrl+L"),
        shortcuts=action("shortcutsAction", translate("Menu", "&Keyboard shortcuts"), "Ctrl+/"),
        about=action("aboutAction", translate("Menu", "&About BibGenie")),
    )
    actions.quit.setMenuRole(QAction.MenuRole.QuitRole)
    actions.about.setMenuRole(QAction.MenuRole.AboutRole)
    actions.chats.setCheckable(True)
    actions.chats.setChecked(True)
    # Under a message there is room for one word, and a screen reader says where it is.
    actions.copy.setIconText(translate("Menu", "Copy"))
    actions.copy.setToolTip(translate("Menu", "Copy this message as Markdown"))
    return actions


def fill_menus(window: QMainWindow, actions: Actions) -> None:
    """Puts every action into a menu of the window."""
    a = actions
    for title, groups in (
        (translate("Menu", "&File"), ((a.new, a.rename), (a.quit,))),
        (
            translate("Menu", "&Edit"),
            ((a.undo, a.redo), (a.cut, a.copy_text, a.paste, a.select_all), (a.find, a.find_next, a.find_previous)),
        ),
        (translate("Menu", "&Chat"), ((a.send, a.stop, a.recall), (a.copy, a.newest))),
        (translate("Menu", "&View"), ((a.chats, a.search), (a.compose,))),
        (translate("Menu", "&Help"), ((a.shortcuts, a.about),)),
    ):
        menu: QMenu = window.menuBar().addMenu(title)
        for number, group in enumerate(groups):
            if number:
                menu.addSeparator()
            menu.addActions(group)


def _sequences(key: QKeySequence | QKeySequence.StandardKey | Qt.Key | str) -> list[QKeySequence]:
    if isinstance(key, QKeySequence.StandardKey):
        return QKeySequence.keyBindings(key)[:1]
    return [QKeySequence(key)]
