"""The databases that real Zoteros wrote stay as they were written."""

from __future__ import annotations

import hashlib

import pytest

from .databases import DATA

STORED = [
    "CRRPTPDF/corrupt.pdf",
    "CSVFLE22/data.csv",
    "EMBPDF22/embedded.pdf",
    "ENCRPDF2/encrypted.pdf",
    "EPUBBGS2/bogs.epub",
    "GRPPDF22/group.pdf",
    "PDFBKCH2/book-ch.pdf",
    "PDFSMTH2/Smith et al. - 2020 - Residual Pathways.pdf",
    "SNAPSHT2/page.html",
    "STANDPDF/scan.pdf",
    "TXTFLE22/readme.txt",
    "UMLAUT22/Müller – Ökologie “2019” & más (v2).pdf",
]


@pytest.mark.parametrize(
    ("version", "picture", "digest", "journal"),
    [
        (9, "MAKS2T2L/image.png", "869e50a90aa86a1a6735112490d4d6026968e2639597ed8a2cac2cdde268342b", b"\x01\x01"),
        (10, "N2KNVGIA/image.png", "539be13babc02a0949a6a00f984a160b9defe22b486347f6b79d6b309d85fe25", b"\x02\x02"),
    ],
)
@pytest.mark.req("Z-1")
def test_nothing_appeared_beside_the_stored_databases_and_they_are_as_zotero_wrote_them(
    version: int, picture: str, digest: str, journal: bytes
) -> None:
    directory = DATA / f"zotero{version}"
    found = sorted(path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file())
    assert found == sorted([f"storage/{name}" for name in [*STORED, picture]] + ["zotero.sqlite"])
    database = (directory / "zotero.sqlite").read_bytes()
    assert hashlib.sha256(database).hexdigest() == digest
    assert database[18:20] == journal, "the header says which journal Zotero used"
