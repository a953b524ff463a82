"""Asks before a web page is opened, and shows the whole address (S-1)."""

from __future__ import annotations

import math

from PySide6.QtCore import QObject, Qt, QUrl, Signal
from PySide6.QtGui import QFont, QGuiApplication, QTextCharFormat, QTextCursor, QTextOption
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QLabel, QPushButton, QTextEdit, QVBoxLayout, QWidget

from .links import LinkRouter
from .theme import figures, sized

_WIDEST_FIGURES = 66
"""Of the text."""
_MOST_LINES = 8
"""Of the address, before it scrolls."""
_ENCODED = QUrl.ComponentFormattingOption.FullyEncoded


class LinkDialog(QDialog):
    """`linkDialog`. Shows one address, its host in bold; accepted where the person chose to open it.

    It opens nothing itself. Escape and Enter leave the page unopened.
    """

    def __init__(self, address: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("linkDialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Open a web page?"))
        # Windows do not take over their parent's; the text of the address is drawn with it.
        self.setPalette(parent.palette())
        url = QUrl(address, QUrl.ParsingMode.StrictMode)
        host = url.host(_ENCODED)
        question = self._label("linkQuestion", self.tr("Open this page in your browser?"))
        name = _WholeText("linkHost", host, 0, len(host), sized(self.font(), 1.3))
        name.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        warning = self._label("linkWarning", self._warning(url.scheme(), host))
        warning.setVisible(bool(warning.text()))
        begin = len(url.scheme()) + len("://")
        shown = _WholeText("linkAddress", address, begin, len(url.authority(_ENCODED)), self.font())
        shown.setAccessibleName(self.tr("Address"))
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        opening, copying, cancelling = map(QPushButton, (self.tr("Open"), self.tr("Copy link"), self.tr("Cancel")))
        for button, its_name in ((opening, "linkOpen"), (copying, "linkCopy"), (cancelling, "linkCancel")):
            button.setObjectName(its_name)
            buttons.addWidget(button)
        opening.clicked.connect(self.accept)
        cancelling.clicked.connect(self.reject)
        copying.clicked.connect(lambda: QGuiApplication.clipboard().setText(address))
        copying.clicked.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 22, 24, 18)
        column.setSpacing(12)
        for widget in (question, name, shown, warning):
            column.addWidget(widget)
        column.addLayout(buttons)
        # Only now that it is the dialog's is it heard.
        cancelling.setDefault(True)
        cancelling.setFocus()
        # Before it is shown, so that its size never changes on the screen.
        self.setFixedSize(self.sizeHint())

    def _label(self, name: str, text: str) -> QLabel:
        label = QLabel(text)
        label.setObjectName(name)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setFixedWidth(figures(label.font(), _WIDEST_FIGURES))
        return label

    def _warning(self, scheme: str, host: str) -> str:
        if any(label.startswith("xn--") for label in host.split(".")):
            return self.tr("This name holds letters that can look like others; it is shown in its encoded form.")
        return self.tr("The page is fetched without encryption.") if scheme == "http" else ""


class _WholeText(QTextEdit):
    """An address to read and select, with its host in bold. It is broken anywhere: no end of it is ever cut off."""

    def __init__(self, name: str, address: str, host_begin: int, host_length: int, font: QFont) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setFont(font)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self.setReadOnly(True)
        self.setAcceptRichText(False)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        width = figures(QGuiApplication.font(), _WIDEST_FIGURES)
        self.setFixedWidth(width)
        self.setPlainText(address)
        bold = QTextCharFormat()
        bold.setFontWeight(QFont.Weight.Bold)
        cursor = QTextCursor(self.document())
        cursor.setPosition(host_begin)
        cursor.setPosition(host_begin + host_length, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(bold)
        self.document().setDocumentMargin(0)
        self.document().setTextWidth(width)
        most = self.fontMetrics().lineSpacing() * _MOST_LINES
        self.setFixedHeight(math.ceil(min(self.document().size().height(), most)) + 2)


class LinkQuestions(QObject):
    """Asks about web pages over `window`, one at a time; what is agreed to is opened by `router`.

    Signals:
        answered(sentence): what became of a page that was asked about.
    """

    answered = Signal(str)

    def __init__(self, router: LinkRouter, window: QWidget) -> None:
        super().__init__(window)
        self._router = router
        self._window = window
        self._dialog: LinkDialog | None = None
        router.ask_with(self.ask)

    def ask(self, address: str) -> None:
        """Ask about a page. While a question is open no second one is asked."""
        if self._dialog is not None:
            return
        self._dialog = LinkDialog(address, self._window)
        self._dialog.finished.connect(lambda result: self._ended(address, result == QDialog.DialogCode.Accepted))
        self._dialog.open()

    def _ended(self, address: str, agreed: bool) -> None:
        self._dialog = None
        self.answered.emit(self._router.open_page(address) if agreed else "")
