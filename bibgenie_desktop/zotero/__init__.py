"""Zotero: one port, several sources; links. The only room that will know pyzotero."""
