"""What is offered under a message that asks for it: to go on with it, to try again, to answer it at all."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QWidget

from ..theme import Colours
from .flat_button import FlatButton
from .message import Offer
from .wording import offer_words

_GAP, _INSET = 14, 3
"""Pixels between two offers, and those beside the word of each, for its ring."""
ACTIONS: dict[Offer, str] = {"continue": "continueAction", "retry": "retryAction", "answer": "retryAction"}
"""The names of the actions behind the offers."""


class OfferLine(QWidget):
    """`messageOffers`: a word for each offer.

    Signals:
        taken(name): the action of this name is wanted.
    """

    taken = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("messageOffers")
        self._buttons: dict[Offer, FlatButton] = {}
        for offer in ("continue", "answer", "retry"):
            self._buttons[offer] = self._make(offer)

    def _make(self, offer: Offer) -> FlatButton:
        button = FlatButton(f"{offer}Offer", self, strong=True)
        button.setText(offer_words(offer))
        button.clicked.connect(lambda: self.taken.emit(ACTIONS[offer]))
        return button

    @property
    def stops(self) -> list[QWidget]:
        """Where the Tab key goes in it, in order."""
        return [button for button in self._buttons.values() if not button.isHidden()]

    def show_offers(self, offers: Sequence[Offer]) -> None:
        """Show these."""
        for offer, button in self._buttons.items():
            button.setVisible(offer in offers)

    def set_look(self, font: QFont, colours: Colours) -> None:
        """Draw in this font and in the colours of a theme."""
        for button in self._buttons.values():
            button.setFont(font)
            button.colours = colours

    def arrange(self, place: QRect) -> None:
        """Take a place in the row."""
        # The words begin where the text above them does.
        place = place.adjusted(-_INSET, 0, _INSET, 0)
        self.setGeometry(place)
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        x = 0
        for button in self.stops:
            assert isinstance(button, FlatButton)
            width = button.fontMetrics().horizontalAdvance(button.text()) + 2 * _INSET
            button.setGeometry(place.width() - x - width if mirrored else x, 0, width, place.height())
            x += width + _GAP
