"""A text that a model wrote, to be read in a dialog: rendered as answers are, and nothing in it is loaded or opened."""

from __future__ import annotations

from html import escape
from typing import Any

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import QFontInfo, QImage, QTextOption
from PySide6.QtWidgets import QFrame, QTextEdit

from ..protocol.values import Segment
from .chat.body import Look, RenderBody
from .chat.wording import translate
from .checkpoint_text import Difference, Mark, sections_of
from .theme import Colours, reading_font

LONGEST = 20_000
"""Characters that are rendered; what is longer would hold the window up, and is shown as it was written."""


class SummaryView(QTextEdit):
    """Read-only text in the page's letters."""

    def __init__(self, name: str, title: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setReadOnly(True)
        self.setAcceptRichText(False)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(reading_font(self.font()))
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document().setDocumentMargin(14)

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Load nothing, whatever the text names."""
        # With no answer Qt would open the name as a file itself.
        image = QImage(QSize(1, 1), QImage.Format.Format_ARGB32)
        image.fill(Qt.GlobalColor.transparent)
        return image

    def show_summary(self, summary: str, answers: RenderBody, colours: Colours) -> None:
        """Show a summary, section by section; one that has none of its headings, as it is."""
        if len(summary) > LONGEST:
            self.show_as_it_is(summary)
            return
        parts = []
        for section in sections_of(summary):
            body = section.body or translate("Checkpoint", "Nothing.")
            parts.append(f"### {section.heading}\n\n{body}" if section.heading else body)
        pixels = QFontInfo(self.font()).pixelSize()
        look = Look(colours, colours.text, pixels, lambda _: "")
        source = "\n\n".join(parts)
        rendered = answers.render([Segment("text", source)], look, first_citation=0, first_code=0)
        self.setHtml(rendered.html)

    def show_differences(self, found: list[Difference], colours: Colours) -> None:
        """Show what is new and what is gone, section by section."""
        if not any(each.is_any for each in found):
            self.setPlainText(translate("Checkpoint", "Both summaries say the same."))
            return
        self.setHtml("".join(_section(each, colours) for each in found if each.is_any))

    def show_list(self, lines: list[str]) -> None:
        """Show lines as a list."""
        self.setHtml("".join(f'<p style="margin:0 0 8px 0">{n}. {escape(each)}</p>' for n, each in enumerate(lines, 1)))

    def show_as_it_is(self, text: str) -> None:
        """Show a text exactly as it was written."""
        self.setPlainText(text)


def _section(found: Difference, colours: Colours) -> str:
    heading = f"<p><b>{escape(found.heading)}</b></p>" if found.heading else ""
    return heading + "".join(_line(mark, text, colours) for mark, text in found.lines)


def _line(mark: Mark, text: str, colours: Colours) -> str:
    # The sign tells it too: not everybody can tell the colours apart, and a screen reader names none.
    sign, ink, style = {
        "same": ("&nbsp;", colours.muted, ""),
        "added": ("+", colours.verified, ""),
        "removed": ("−", colours.accent, "text-decoration:line-through;"),
    }[mark]
    words = escape(f"•{text[1:]}" if text.startswith(("- ", "* ")) else text)
    return (
        f'<p style="margin:2px 0 2px 18px; text-indent:-18px; white-space:pre-wrap; color:{ink}">'
        f'{sign} <span style="{style}">{words}</span></p>'
    )
