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
    pin: QAction
    archive: QAction
    delete: QAction
    undo_delete: QAction
    export_branch: QAction
    export_tree: QAction
    bring_in: QAction
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
    retry: QAction
    edit: QAction
    fork: QAction
    go_on: QAction
    previous_version: QAction
    next_version: QAction
    compact: QAction
    context: QAction
    checkpoint: QAction
    recall: QAction
    newest: QAction
    chats: QAction
    search: QAction
    branch_map: QAction
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
        pin=action("pinAction", translate("Menu", "&Pin chat")),
        archive=action("archiveAction", translate("Menu", "&Archive chat")),
        # The key belongs to the list of chats; elsewhere it deletes letters.
        delete=action("deleteSessionAction", translate("Menu", "&Delete chat…") + "\t" + translate("Menu", "Del")),
        undo_delete=action("undoDeleteAction", translate("Menu", "&Undo deleting")),
        export_branch=action("exportAction", translate("Menu", "This &branch…")),
        export_tree=action("exportTreeAction", translate("Menu", "The whole &tree…")),
        bring_in=action("importAction", translate("Menu", "&Import chat…")),
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
        retry=action("retryAction", translate("Menu", "&Retry the answer"), "Ctrl+R"),
        edit=action("editAction", translate("Menu", "&Edit the question"), "Ctrl+E"),
        fork=action("forkAction", translate("Menu", "&Fork a new chat here")),
        go_on=action("continueAction", translate("Menu", "&Continue the answer")),
        previous_version=action("previousBranchAction", translate("Menu", "&Previous version"), "Alt+Left"),
        next_version=action("nextBranchAction", translate("Menu", "Ne&xt version"), "Alt+Right"),
        compact=action("compactAction", translate("Menu", "Compact e&arlier context"), "Ctrl+Shift+K"),
        context=action("contextAction", translate("Menu", "Sho&w how full the context is")),
        checkpoint=action("checkpointAction", translate("Menu", "&View the newest checkpoint")),
        recall=action("recallAction", translate("Menu", "&Last question again") + "\t↑"),
        newest=action("newestAction", translate("Menu", "Go to the &newest message"), "Ctrl+End"),
        chats=action("chatsAction", translate("Menu", "&Chats at the side"), "Ctrl+B"),
        search=action("searchSessionsAction", translate("Menu", "&Search chats"), "Ctrl+K"),
        branch_map=action("branchMapAction", translate("Menu", "Branch &map"), "Ctrl+Shift+B"),
        compose=action("composeAction", translate("Menu", "&Write a question"), "Ctrl+L"),
        shortcuts=action("shortcutsAction", translate("Menu", "&Keyboard shortcuts"), "Ctrl+/"),
        about=action("aboutAction", translate("Menu", "&About BibGenie")),
    )
    actions.quit.setMenuRole(QAction.MenuRole.QuitRole)
    actions.about.setMenuRole(QAction.MenuRole.AboutRole)
    actions.chats.setCheckable(True)
    actions.chats.setChecked(True)
    actions.branch_map.setCheckable(True)
    actions.branch_map.setIconText(translate("Menu", "Map"))
    actions.compact.setIconText(translate("Menu", "Compact"))
    actions.compact.setIconVisibleInMenu(False)
    # Under a message there is room for one word, and a screen reader says where it is.
    for each, word, tip in (
        (actions.copy, translate("Menu", "Copy"), translate("Menu", "Copy this message as Markdown")),
        (
            actions.retry,
            translate("Menu", "Retry"),
            translate("Menu", "Answer this question anew; this answer is kept"),
        ),
        (actions.edit, translate("Menu", "Edit"), translate("Menu", "Ask this question in another way")),
        (actions.fork, translate("Menu", "Fork"), translate("Menu", "Begin a new chat that goes on from here")),
        (actions.go_on, translate("Menu", "Continue"), translate("Menu", "Go on with this answer where it ends")),
    ):
        each.setIconText(word)
        each.setToolTip(tip)
    return actions


def fill_menus(window: QMainWindow, actions: Actions) -> None:
    """Puts every action into a menu of the window."""
    a = actions
    exporting = QMenu(translate("Menu", "E&xport chat"), window)
    exporting.addActions([a.export_branch, a.export_tree])
    kept = (a.pin, a.archive, a.delete, a.undo_delete)
    for title, groups in (
        (translate("Menu", "&File"), ((a.new, a.rename), kept, (exporting.menuAction(), a.bring_in), (a.quit,))),
        (
            translate("Menu", "&Edit"),
            ((a.undo, a.redo), (a.cut, a.copy_text, a.paste, a.select_all), (a.find, a.find_next, a.find_previous)),
        ),
        (
            translate("Menu", "&Chat"),
            (
                (a.send, a.stop, a.recall),
                (a.copy, a.retry, a.edit, a.fork, a.go_on),
                (a.previous_version, a.next_version, a.newest),
                (a.compact, a.context, a.checkpoint),
            ),
        ),
        (translate("Menu", "&View"), ((a.chats, a.search, a.branch_map), (a.compose,))),
        (translate("Menu", "&Help"), ((a.shortcuts, a.about),)),
    ):
        menu: QMenu = window.menuBar().addMenu(title)
        menu.setToolTipsVisible(True)
        for number, group in enumerate(groups):
            if number:
                menu.addSeparator()
            menu.addActions(group)


def _sequences(key: QKeySequence | QKeySequence.StandardKey | Qt.Key | str) -> list[QKeySequence]:
    if isinstance(key, QKeySequence.StandardKey):
        return QKeySequence.keyBindings(key)[:1]
    return [QKeySequence(key)]
