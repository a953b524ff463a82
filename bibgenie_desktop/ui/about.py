"""What this program is, its version and its licence."""

from __future__ import annotations

import platform

from PySide6.QtCore import Qt, qVersion
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QVBoxLayout, QWidget

from .. import __version__
from .theme import figures, sized

LICENCE = "AGPL-3.0-or-later"


class AboutDialog(QDialog):
    """`aboutDialog`. It is opened, never run in an event loop of its own."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("aboutDialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("About BibGenie"))
        name = QLabel(f"BibGenie Desktop {__version__}")
        name.setObjectName("aboutName")
        name.setFont(sized(name.font(), 1.4))
        text = QLabel(
            self.tr(
                "Talk with a language model over your Zotero library.\n\n"
                "Licence: {licence}. You may use, study, share and change it; it comes without warranty.\n"
                "Made with Qt {qt} and Python {python}."
            ).format(licence=LICENCE, qt=qVersion(), python=platform.python_version())
        )
        text.setObjectName("aboutText")
        text.setWordWrap(True)
        text.setFixedWidth(figures(text.font(), 60))
        for label in (name, text):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.close)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 22, 24, 18)
        column.setSpacing(12)
        for widget in (name, text, buttons):
            column.addWidget(widget)
        # Before it is shown, so that its size never changes on the screen.
        self.setFixedSize(self.sizeHint())
