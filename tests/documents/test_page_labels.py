"""Page labels are those of the file, decoded, or none: never raw bytes, never guessed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.documents.page_labels import LabelRule, PageLabels
from bibgenie_desktop.documents.pdf import PdfDocument
from tests.documents.pdfs import labelled_pdf, pdf_of

pytestmark = pytest.mark.req("Z-4")


def labels(path: Path, data: bytes) -> list[str]:
    path.write_bytes(data)
    document = PdfDocument(str(path))
    try:
        return [document.page(index).label for index in range(document.page_count)]
    finally:
        document.close()


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ("<</Nums[0<</S/r>>3<</S/D>>]>>", ["i", "ii", "iii", "1", "2"]),
        ("<</Nums[0<</S/D/St 217>>]>>", ["217", "218", "219", "220", "221"]),
        ("<</Nums[0<</S/R/St 48>>]>>", ["XLVIII", "XLIX", "L", "LI", "LII"]),
        ("<</Nums[0<</S/A/St 25>>]>>", ["Y", "Z", "AA", "BB", "CC"]),
        ("<</Nums[0<</S/a/St 53>>]>>", ["aaa", "bbb", "ccc", "ddd", "eee"]),
        ("<</Nums[0<</P(Cover)>>1<</S/D/P(p. )>>]>>", ["Cover", "p. 1", "p. 2", "p. 3", "p. 4"]),
        ("<</Nums[0<</S/D/P(A\\(1\\)/)>>]>>", ["A(1)/1", "A(1)/2", "A(1)/3", "A(1)/4", "A(1)/5"]),
        ("<</Nums[0<</S/D/P<FEFF00E9002D>>>]>>", ["é-1", "é-2", "é-3", "é-4", "é-5"]),
        ("<</Nums[0<</S/D/P<FFFEE9002D00>>>]>>", ["é-1", "é-2", "é-3", "é-4", "é-5"]),
        ("<</Nums[0<</S/D/P<EFBBBFC3A9>>>]>>", ["é1", "é2", "é3", "é4", "é5"]),
        ("<</Nums[0<</S/D/P(\\222)>>]>>", ["™1", "™2", "™3", "™4", "™5"]),
        ("<</Nums[2<</S/D>>]>>", ["", "", "1", "2", "3"]),
        ("<</Nums[0<</S/D>>2<</S/r>>4<</S/D>>]>>", ["1", "2", "i", "ii", "1"]),
        ("<</Nums[0<<>>3<</S/D>>]>>", ["", "", "", "1", "2"]),
        ("<</Nums[3<</S/D>>0<</S/r>>]>>", ["i", "ii", "iii", "1", "2"]),
        ("<</Nums[0<</S/D>>99<</S/r/St 0>>-1<</S/r>>/x<</S/r>>]>>", ["1", "2", "3", "4", "5"]),
    ],
)
def test_labels_are_what_the_tree_says(tmp_path: Path, tree: str, expected: list[str]) -> None:
    assert labels(tmp_path / "labels.pdf", labelled_pdf(5, tree)) == expected


@pytest.mark.parametrize(
    "tree",
    [
        "<</Nums[0<</S/D/St 0>>]>>",
        "<</Nums[0<</S/D/St -3>>]>>",
        "<</Nums[0<</S/D/St(1)>>]>>",
        "<</Nums[0<</S/Z>>]>>",
        "<</Nums[0<</S(D)>>]>>",
        "<</Nums[0<</S/D/P/x>>]>>",
        "<</Nums[0 17 2<</S/D>>]>>",
        "<</Nums[0]>>",
        "<</Nums 5>>",
        "<<>>",
        "17",
    ],
)
def test_an_invalid_tree_counts_for_nothing_as_in_zoteros_reader(tmp_path: Path, tree: str) -> None:
    assert labels(tmp_path / "labels.pdf", labelled_pdf(3, tree)) == ["", "", ""]


def test_a_file_without_labels_has_none(tmp_path: Path) -> None:
    assert labels(tmp_path / "plain.pdf", pdf_of(["One."], ["Two."])) == ["", ""]


def test_a_tree_of_nested_nodes_is_read_whole(tmp_path: Path) -> None:
    data = labelled_pdf(
        5,
        "%(root)s",
        root="<</Kids[%(left)s %(right)s]>>",
        left="<</Limits[0 2]/Kids[%(leaf)s]>>",
        leaf="<</Limits[0 2]/Nums[0 %(roman)s]>>",
        roman="<</S/r>>",
        right="<</Limits[3 3]/Nums[3<</S/D/St 10>>]>>",
    )
    assert labels(tmp_path / "nested.pdf", data) == ["i", "ii", "iii", "10", "11"]


def test_a_tree_that_contains_itself_ends(tmp_path: Path) -> None:
    data = labelled_pdf(2, "%(root)s", root="<</Kids[%(root)s %(leaf)s %(leaf)s]>>", leaf="<</Nums[0<</S/D>>]>>")
    assert labels(tmp_path / "circular.pdf", data) == ["1", "2"]


def test_a_tree_without_end_is_read_to_a_bounded_depth(tmp_path: Path) -> None:
    deep = {f"n{depth}": f"<</Kids[%(n{depth + 1})s]>>" for depth in range(100)} | {"n100": "<</Nums[0<</S/D>>]>>"}
    assert labels(tmp_path / "deep.pdf", labelled_pdf(2, "%(n0)s", **deep)) == ["", ""]


def test_a_number_that_fills_pages_is_no_label(tmp_path: Path) -> None:
    """A file of a few hundred bytes may ask for a label of millions of letters."""
    for tree in ("<</Nums[0<</S/a/St 2000000000>>]>>", "<</Nums[0<</S/R/St 2000000000>>]>>"):
        assert labels(tmp_path / "long.pdf", labelled_pdf(1, tree)) == [""]


@given(st.integers(1, 3999))
def test_roman_numerals_say_their_number(number: int) -> None:
    label = PageLabels((LabelRule(0, "R", "", number),)).label(0)
    values = [dict(zip("IVXLCDM", (1, 5, 10, 50, 100, 500, 1000), strict=True))[letter] for letter in label]
    signed = [-value if value < max(values[at:]) else value for at, value in enumerate(values)]
    assert sum(signed) == number
    assert not any(run in label for run in ("IIII", "VV", "XXXX", "LL", "CCCC", "DD"))


@given(st.integers(0, 2000))
def test_letters_repeat_after_z(page: int) -> None:
    label = PageLabels((LabelRule(0, "A", "", 1),)).label(page)
    assert set(label) == {chr(ord("A") + page % 26)}
    assert len(label) == page // 26 + 1
