"""The offline assistant: a second implementation of the models port that needs no key and no network (A-2)."""

from .assistant import NAME, OfflineAssistant

__all__ = ["NAME", "OfflineAssistant"]
