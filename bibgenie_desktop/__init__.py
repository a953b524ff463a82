"""BibGenie Desktop: talk with a language model over a Zotero library, with citations that can be checked."""

__version__ = "0.1.0"
