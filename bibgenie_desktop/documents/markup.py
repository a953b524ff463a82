"""Parsing the XML of an EPUB, which is hostile: no document type, no entities, no network, bounded depth."""

from __future__ import annotations

import html
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE

from lxml import etree

_REFERENCE = re.compile(r"&(?:#[0-9]+;|#x[0-9A-Fa-f]+;|([A-Za-z][A-Za-z0-9]{0,31});)?")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def parse(data: bytes) -> etree._Element | None:
    """The root element of an XML file, repaired where it is malformed; None where nothing can be made of it.

    The document type is cut out before parsing and every reference to an entity becomes plain text, so that none of
    the file's own exists; HTML's named characters (`&nbsp;`) are put in by us.
    """
    text = _REFERENCE.sub(_plain_reference, _without_document_type(_ILLEGAL.sub("", _decoded(data))))
    parser = etree.XMLParser(
        encoding="utf-8", recover=True, resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False
    )
    try:
        root: etree._Element | None = etree.fromstring(text.encode(), parser)
    except etree.LxmlError:
        return None
    return root


def local_name(element: etree._Element) -> str:
    """The element's name without its namespace, in small letters."""
    return str(element.tag).rpartition("}")[2].lower()


def _decoded(data: bytes) -> str:
    if data.startswith((BOM_UTF16_BE, BOM_UTF16_LE)):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        # EPUB allows UTF-8 and UTF-16 alone; what is neither is most often this.
        return data.decode("cp1252", "replace")


def _without_document_type(text: str) -> str:
    start = text.find("<!DOCTYPE")
    if start < 0:
        return text
    end, subset = text.find(">", start), text.find("[", start)
    if 0 <= subset < end:
        close = text.find("]", subset)
        # A "]" within an entity's value ends the cut early. What is left is loose text to the parser, as is a second
        # document type: such a file is hostile and need not be read well.
        end = text.find(">", close) if close >= 0 else -1
    return text[:start] + text[end + 1 :].replace("<!DOCTYPE", "") if end >= 0 else text[:start]


def _plain_reference(match: re.Match[str]) -> str:
    reference, name = match[0], match[1]
    if reference == "&":
        return "&amp;"
    if name is None or name in _XML_ENTITIES:
        return reference
    character = html.unescape(reference)
    # An unknown entity stays readable as text instead of vanishing.
    return f"&amp;{name};" if character == reference else html.escape(character)
