"""Where the file of an attachment lies, and every reason why it is not read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bibgenie_desktop.sessions.locators import PERSONAL, ItemRef, LibraryRef
from bibgenie_desktop.zotero.files import AttachmentFiles

from .databases import EmptiedDatabase, source

ATTACHMENT = ItemRef(PERSONAL, "ATTACH22")
WINDOWS = os.name == "nt"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with one stored file, and files that lie where no attachment may reach."""
    storage = tmp_path / "Zotero" / "storage"
    for path in (storage / "ATTACH22" / "a.pdf", storage / "OTHER222" / "b.pdf", tmp_path / "secret.txt"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"content")
    (storage / "outside.pdf").write_bytes(b"content")
    return tmp_path / "Zotero"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A base directory of linked files with one file in a directory of its own."""
    directory = tmp_path / "Papers"
    (directory / "2020").mkdir(parents=True)
    (directory / "2020" / "linked.pdf").write_bytes(b"content")
    return directory


@pytest.mark.req("Z-5")
def test_a_stored_file_lies_in_the_directory_of_its_key(data: Path) -> None:
    file = AttachmentFiles(data).locate(ATTACHMENT, "imported_file", "storage:a.pdf")
    assert (file.filename, file.path, file.problem) == ("a.pdf", str(data / "storage" / "ATTACH22" / "a.pdf"), "")


@pytest.mark.parametrize(
    "name",
    ["../OTHER222/b.pdf", "../outside.pdf", "../../../secret.txt", "..", ".", "", "/etc/hosts", "sub/a.pdf"],
)
@pytest.mark.req("Z-5")
def test_a_stored_path_never_leaves_its_directory(name: str, data: Path) -> None:
    file = AttachmentFiles(data).locate(ATTACHMENT, "imported_file", f"storage:{name}")
    assert (file.path, file.problem) == (None, "its path leads out of Zotero's storage")


@pytest.mark.parametrize("name", [r"..\OTHER222\b.pdf", r"C:\secret.txt", "a.pdf:stream", "C:a.pdf"])
@pytest.mark.req("Z-5")
def test_on_windows_neither_backslashes_nor_drives_nor_streams_lead_out(name: str, data: Path) -> None:
    file = AttachmentFiles(data, windows=True).locate(ATTACHMENT, "imported_url", f"storage:{name}")
    assert (file.path, file.problem) == (None, "its path leads out of Zotero's storage")


PARTS = st.sampled_from(["..", ".", "", "ATTACH22", "a.pdf", "OTHER222", "b.pdf", "2020", "linked.pdf", "secret.txt"])
ODD_TEXT = st.text(st.sampled_from("./\\:~%\0") | st.characters(codec="utf-8"), max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=400)
@given(
    parts=st.lists(PARTS | ODD_TEXT, max_size=5),
    separator=st.sampled_from("/\\"),
    prefix=st.sampled_from(["storage:", "attachments:"]),
    windows=st.booleans(),
)
@pytest.mark.req("Z-5")
def test_whatever_the_path_a_found_file_lies_where_it_may(
    parts: list[str], separator: str, prefix: str, windows: bool, data: Path, base: Path
) -> None:
    """And no path, however odd, raises anything."""
    files = AttachmentFiles(data, base, windows=windows or WINDOWS)
    file = files.locate(ATTACHMENT, "imported_file", prefix + separator.join(parts))
    assert (file.path is None) == bool(file.problem)
    if file.path is not None:
        root = data / "storage" / "ATTACH22" if prefix == "storage:" else base
        assert Path(os.path.realpath(file.path)).is_relative_to(os.path.realpath(root))


@pytest.mark.req("Z-5")
def test_what_is_not_there_or_not_a_document_is_told_in_words(data: Path) -> None:
    own = data / "storage" / "ATTACH22"
    (own / "empty.pdf").touch()
    (own / "directory.pdf").mkdir()
    (own / ".zotero-ft-cache").write_text("full text")

    def problem(name: str) -> str:
        file = AttachmentFiles(data).locate(ATTACHMENT, "imported_file", name)
        assert file.path is None
        return file.problem

    assert problem("storage:gone.pdf") == "not on this computer"
    assert problem("storage:empty.pdf") == "an empty file"
    assert problem("storage:directory.pdf") == "not a file"
    assert problem("storage:.zotero-ft-cache") == "a file of Zotero's own, not a document"
    assert problem("") == "not on this computer"
    assert problem("storage:a\0.pdf") == "its path is not a path"
    assert problem("a.pdf") == "its path is not complete"


@pytest.mark.skipif(WINDOWS, reason="the limit on names is another there")
@pytest.mark.req("Z-5")
def test_a_name_that_the_system_refuses_is_told_with_the_systems_word(data: Path) -> None:
    file = AttachmentFiles(data).locate(ATTACHMENT, "imported_file", "storage:" + "x" * 5000)
    assert (file.path, file.problem) == (None, "cannot be reached: File name too long")


@pytest.mark.req("Z-5")
def test_a_linked_file_is_read_where_it_lies(base: Path, data: Path) -> None:
    stored = str(base / "2020" / "linked.pdf")
    file = AttachmentFiles(data).locate(ATTACHMENT, "linked_file", stored)
    assert (file.filename, file.path) == ("linked.pdf", stored)
    gone = AttachmentFiles(data).locate(ATTACHMENT, "linked_file", str(base / "gone.pdf"))
    assert (gone.filename, gone.path, gone.problem) == ("gone.pdf", None, "not on this computer")
    below_a_file = AttachmentFiles(data).locate(ATTACHMENT, "linked_file", os.path.join(stored, "x.pdf"))
    assert below_a_file.problem == "not on this computer"


@pytest.mark.parametrize("stored", [r"C:\Users\ada\Papers\x.pdf", "D:/Papers/x.pdf", r"\\server\share\x.pdf"])
@pytest.mark.req("Z-5")
def test_a_path_of_a_windows_computer_is_not_here_elsewhere(stored: str, data: Path) -> None:
    file = AttachmentFiles(data, windows=False).locate(ATTACHMENT, "linked_file", stored)
    assert (file.filename, file.path) == ("x.pdf", None)
    assert file.problem == "not on this computer: linked on a Windows computer"


@pytest.mark.req("Z-5")
def test_a_path_of_a_mac_or_linux_computer_is_not_here_on_windows(data: Path) -> None:
    file = AttachmentFiles(data, windows=True).locate(ATTACHMENT, "linked_file", "/home/ada/Papers/x.pdf")
    assert (file.path, file.problem) == (None, "not on this computer: linked on a Mac or Linux computer")


@pytest.mark.req("Z-5")
def test_an_old_mac_alias_names_no_path(data: Path) -> None:
    file = AttachmentFiles(data).locate(ATTACHMENT, "linked_file", "AAAAAAFCAAIAAAxNYWNpbnRvc2ggSEQ=")
    assert file.path is None
    assert file.problem == "not on this computer: linked by an old Mac alias that names no path"


@pytest.mark.req("Z-5")
def test_a_relative_link_needs_the_base_directory_and_stays_in_it(base: Path, data: Path) -> None:
    with_base, without = AttachmentFiles(data, base), AttachmentFiles(data)
    found = with_base.locate(ATTACHMENT, "linked_file", "attachments:2020/linked.pdf")
    assert (found.filename, found.path) == ("linked.pdf", str(base / "2020" / "linked.pdf"))
    unset = without.locate(ATTACHMENT, "linked_file", "attachments:2020/linked.pdf")
    assert unset.problem == "linked relative to a base directory that is not set on this computer"
    for hostile in ("attachments:../secret.txt", "attachments:2020/../../secret.txt", "attachments:/etc/hosts"):
        file = with_base.locate(ATTACHMENT, "linked_file", hostile)
        assert (file.path, file.problem) == (None, "its path leads out of the base directory of linked files")


@pytest.mark.req("Z-5")
def test_a_group_member_cannot_point_at_a_file_of_this_computer(base: Path, data: Path) -> None:
    in_group = ItemRef(LibraryRef(555), "ATTACH22")
    for stored in (str(base / "2020" / "linked.pdf"), "attachments:2020/linked.pdf"):
        file = AttachmentFiles(data, base).locate(in_group, "linked_file", stored)
        assert file.path is None
        assert file.problem == "a linked file in a group library, which Zotero does not allow"
    stored_file = AttachmentFiles(data).locate(in_group, "imported_file", "storage:a.pdf")
    assert stored_file.path == str(data / "storage" / "ATTACH22" / "a.pdf")


@pytest.mark.req("Z-5")
def test_web_links_and_pictures_in_notes_have_no_document(data: Path) -> None:
    files = AttachmentFiles(data)
    assert files.locate(ATTACHMENT, "linked_url", "").problem == "a link to the web, without a file"
    picture = files.locate(ATTACHMENT, "embedded_image", "storage:image.png")
    assert (picture.filename, picture.problem) == ("image.png", "a picture inside a note, not a document")


@pytest.mark.req("Z-5")
def test_one_bad_path_in_a_library_does_not_stop_the_rest(tmp_path: Path, base: Path) -> None:
    directory = tmp_path / "library"
    with EmptiedDatabase(directory) as database:
        database.attachment("GOODONE2", "storage:good.pdf")
        database.attachment("HOSTILE2", "storage:../../secret.txt")
        database.attachment("RELATIV2", "attachments:2020/linked.pdf", mode=2)
        database.attachment("NOPATH22", None)
        database.attachment("NEWMODE2", "storage:good.pdf", mode=9)
    stored = directory / "storage" / "GOODONE2"
    stored.mkdir(parents=True)
    (stored / "good.pdf").write_bytes(b"content")
    attachments = {a.ref.key: a for a in source(directory, attachment_base=base).snapshot().attachments}
    assert attachments["GOODONE2"].path == str(stored / "good.pdf")
    assert attachments["RELATIV2"].path == str(base / "2020" / "linked.pdf")
    assert {key for key, attachment in attachments.items() if attachment.problem} == {
        "HOSTILE2",
        "NOPATH22",
        "NEWMODE2",
    }
    assert attachments["NEWMODE2"].link_mode == "unknown"
