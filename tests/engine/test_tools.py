"""The tools that read: what they show, how they read on, and that documents stay data (A-3, A-4, Z-4, Z-5, S-1)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.compaction.capacity import Capacity
from bibgenie_desktop.compaction.projection import estimate_request
from bibgenie_desktop.engine.agent.tools import reading_tool_specs, reading_tools
from bibgenie_desktop.engine.agent.tools.tool import ToolFault, ToolResult, fitted, fitting, weight
from bibgenie_desktop.engine.agent.turn import LARGEST_RESULT, SMALLEST_RESULT
from bibgenie_desktop.protocol.events import AnswerCitation, TurnFinished
from bibgenie_desktop.sessions.citations import TOKEN, token_for
from bibgenie_desktop.sessions.parts import ToolCallPart
from tests.documents.epubs import write_epub, xhtml
from tests.documents.pdfs import document_of
from tests.engine.running import running
from tests.engine.scripted import ScriptedModel, answers, call, ends, says
from tests.engine.shelf import HOSTILE_PAGE, HOSTILE_TITLE, INSTRUCTIONS, PAGES, Shelf, make_shelf, put
from tests.zotero.databases import EmptiedDatabase


class Toolbox:
    """The tools over one library."""

    def __init__(self, tools: Mapping[str, Any]) -> None:
        self._tools = tools

    async def raw(self, name: str, budget: int = LARGEST_RESULT, **arguments: Any) -> ToolResult:
        result: ToolResult = await self._tools[name].run(arguments, budget=budget)
        return result

    async def use(self, name: str, budget: int = LARGEST_RESULT, **arguments: Any) -> dict[str, Any]:
        """The result as the model reads it."""
        result: dict[str, Any] = json.loads((await self.raw(name, budget, **arguments)).text())
        return result

    async def fault(self, name: str, **arguments: Any) -> str:
        with pytest.raises(ToolFault) as caught:
            await self.raw(name, **arguments)
        return str(caught.value)


@asynccontextmanager
async def toolbox(shelf: Shelf, folder: Path) -> AsyncIterator[Toolbox]:
    async with running(shelf, folder, ScriptedModel()) as room:
        assert room.index.library is not None
        yield Toolbox({tool.spec.name: tool for tool in reading_tools(room.index.library)})


# What they show


@pytest.mark.req("A-3", "Z-2")
async def test_a_search_gives_passages_with_their_tokens(shelf: Shelf, tmp_path: Path) -> None:
    async with toolbox(shelf, tmp_path) as tools:
        result = await tools.raw("search_library", query="Which offset does the xylophone ledger have?")
    found = json.loads(result.text())
    assert found["words"] == ["offset", "xylophone", "ledger"]
    assert found["words_found_nowhere"] == ["xylophone"]
    assert found["every_passage_holds_every_word"] is False
    first = found["passages"][0]
    assert first == {
        "cite": "[[cite:PDFLABL2@5]]",
        "quoted_work": "Okafor 2014",
        "item": "OKAFOR22",
        "kind": "page",
        "quoted_page_label": "4",
        "page_index": 5,
        "quoted_title": "On Page Labels",
        "quoted_text": PAGES[5],
    }
    assert [token_for(locator) for locator in result.delivered] == [each["cite"] for each in found["passages"]]
    assert result.summary == f"{len(found['passages'])} passages"


@pytest.mark.req("A-3")
async def test_notes_annotations_sections_and_groups_are_found_too(shelf: Shelf, tmp_path: Path) -> None:
    async with toolbox(shelf, tmp_path) as tools:
        note = (await tools.use("search_library", query="copy saw"))["passages"][0]
        annotation = (await tools.use("search_library", query="central claim"))["passages"][0]
        section = (await tools.use("search_library", query="plank"))["passages"][0]
        shared = (await tools.use("search_library", query="group ledger tides"))["passages"][0]
        alone = (await tools.use("search_library", query="leaflet"))["passages"]
        nothing = await tools.use("search_library", query="xylophone")
    assert (note["cite"], note["kind"], "page_index" in note) == ("[[cite:NOTEOKA2]]", "note", False)
    assert annotation == {
        "cite": "[[cite:ANNOTPG2]]",
        "quoted_work": "Okafor 2014",
        "item": "OKAFOR22",
        "kind": "annotation",
        "quoted_page_label": "1",
        "page_index": 2,
        "quoted_title": "On Page Labels",
        "quoted_text": "A page label is the number printed on the page.\nthe central claim",
    }
    assert (section["cite"], section["quoted_section"]) == ("[[cite:EPUBBOG2@s0]]", "Beginnings")
    assert (shared["cite"], shared["item"]) == ("[[cite:groups/555/GROUPPD2@0]]", "groups/555/GROUPWK2")
    assert {each["item"] for each in alone} == {""}
    assert nothing["passages"] == []
    assert nothing["words_found_nowhere"] == ["xylophone"]


@pytest.mark.req("A-3", "Z-2")
async def test_a_work_is_shown_by_any_key_that_belongs_to_it(shelf: Shelf, tmp_path: Path) -> None:
    async with toolbox(shelf, tmp_path) as tools:
        found = [await tools.use("get_item", key=key) for key in ("OKAFOR22", "PDFLABL2", "NOTEOKA2", "ANNOTPG2")]
        shared = await tools.use("get_item", key="groups/555/GROUPPD2")
        fault = await tools.fault("get_item", key="GROUPWK2")
    assert found[1:] == [found[0]] * 3
    assert found[0] == {
        "cite": "[[cite:OKAFOR22]]",
        "item": "OKAFOR22",
        "quoted_work": "Okafor 2014",
        "quoted_type": "journalArticle",
        "year": "2014",
        "quoted_title": "On Page Labels",
        "quoted_creators": ["Ngozi Okafor (author)"],
        "quoted_fields": {"publicationTitle": "Journal of Bibliography", "date": "2014"},
        "quoted_abstract": "What a label is, and why a file's count is none. It was written for editors.",
        "quoted_tags": [],
        "files": [{"key": "PDFLABL2", "quoted_filename": "labels.pdf", "kind": "pdf", "pages": 6}],
        "notes": [{"cite": "[[cite:NOTEOKA2]]", "quoted_text": "Offsets\nIn every copy I saw the offset was eight."}],
        "annotations": [
            {
                "cite": "[[cite:ANNOTPG2]]",
                "type": "highlight",
                "file": "PDFLABL2",
                "page_index": 2,
                "quoted_page_label": "1",
                "quoted_text": "A page label is the number printed on the page.",
                "quoted_comment": "the central claim",
            }
        ],
    }
    assert (shared["item"], shared["files"][0]["key"]) == ("groups/555/GROUPWK2", "groups/555/GROUPPD2")
    assert fault == "The library has no item GROUPWK2: search for it first."


@pytest.mark.req("A-3")
@pytest.mark.parametrize("key", ["ALONEPD2", "ALONEAN2"])
async def test_a_file_that_stands_alone_is_shown_with_its_annotations(shelf: Shelf, tmp_path: Path, key: str) -> None:
    async with toolbox(shelf, tmp_path) as tools:
        found = await tools.use("get_item", key=key)
    assert "item" not in found
    assert [file["key"] for file in found["files"]] == ["ALONEPD2"]
    assert [each["cite"] for each in found["annotations"]] == ["[[cite:ALONEAN2]]"]


@pytest.mark.req("Z-5")
async def test_files_in_trouble_say_so_beside_the_others(shelf: Shelf, tmp_path: Path) -> None:
    async with toolbox(shelf, tmp_path) as tools:
        found = await tools.use("get_item", key="TROUBLE2")
        faults = [
            await tools.fault("read_pages", key=key)
            for key in ("SCANPDF2", "LOCKPDF2", "GONEPDF2", "ZEROPDF2", "TABLECS2")
        ]
        no_file = await tools.fault("read_pages", key="HOSTILE3")
        whole = await tools.fault("read_pages", key="TROUBLE2")
    states = {file["key"]: (file["state"], file["reason"]) for file in found["files"]}
    assert states["SCANPDF2"][0] == "no_text"
    assert states["LOCKPDF2"][0] == "encrypted"
    assert states["GONEPDF2"] == ("missing", "not on this computer")
    assert states["ZEROPDF2"] == ("missing", "an empty file")
    assert states["TABLECS2"][0] == "unsupported"
    assert [fault.partition(" cannot be read")[2][:40] for fault in faults] == [
        ". The file has no text, probably it is a",
        ". The file is encrypted and opens only w",
        ": not on this computer.",
        ": an empty file.",
        ". The file is neither a PDF nor an EPUB,",
    ]
    assert no_file == "The library has no item HOSTILE3."
    assert "cannot be read" in whole


# Pages by index and by label


@pytest.mark.req("Z-4", "A-3")
async def test_pages_are_read_by_index_and_by_printed_label(shelf: Shelf, tmp_path: Path) -> None:
    async with toolbox(shelf, tmp_path) as tools:
        by_index = await tools.use("read_pages", key="PDFLABL2", page_index=1)
        by_label = await tools.use("read_pages", key="PDFLABL2", page_label="ii")
        by_work = await tools.use("read_pages", key="OKAFOR22", page_label=" ii ")
        by_number = await tools.use("read_pages", key="PDFLABL2", page_label=2)
        several = await tools.use("read_pages", key="PDFLABL2", page_index="4", count=5)
        no_label = await tools.use("read_pages", key="PDFLABL2", page_label="  ")
    assert by_index == by_label == by_work
    assert by_index == {
        "quoted_work": "Okafor 2014",
        "quoted_title": "On Page Labels",
        "item": "OKAFOR22",
        "file": "PDFLABL2",
        "page_count": 6,
        "pages": [
            {
                "cite": "[[cite:PDFLABL2@1]]",
                "page_index": 1,
                "quoted_page_label": "ii",
                "quoted_text": PAGES[1],
            }
        ],
    }
    assert [page["page_index"] for page in by_number["pages"]] == [3]
    assert [page["page_index"] for page in several["pages"]] == [4, 5]
    assert "note" not in several
    assert [page["page_index"] for page in no_label["pages"]] == [0]


@pytest.mark.req("Z-4")
async def test_a_label_that_two_pages_carry_says_so(shelf: Shelf, tmp_path: Path) -> None:
    async with toolbox(shelf, tmp_path) as tools:
        found = await tools.use("read_pages", key="PDFTWIC2", page_label="2")
    assert found["note"] == "2 pages are labelled 2: indices [1, 3]; here the first."
    assert [page["page_index"] for page in found["pages"]] == [1]


@pytest.mark.req("Z-4")
async def test_a_number_that_no_page_carries_is_taken_as_a_count_and_said_so(shelf: Shelf, tmp_path: Path) -> None:
    async with toolbox(shelf, tmp_path) as tools:
        found = await tools.use("read_pages", key="PDFLABL2", page_label="6")
        beyond = await tools.fault("read_pages", key="PDFLABL2", page_label="7")
    assert found["note"] == "No page is labelled 6; this is page 6 counted from the first."
    assert [(page["page_index"], page["quoted_page_label"]) for page in found["pages"]] == [(5, "4")]
    assert beyond == "No page of this file is labelled '7'; it has 6 pages."


@pytest.mark.req("Z-4", "Z-2")
async def test_sections_of_a_book_are_read_by_their_place(shelf: Shelf, tmp_path: Path) -> None:
    async with toolbox(shelf, tmp_path) as tools:
        found = await tools.use("read_pages", key="EPUBBOG2", page_index=1)
        by_title = await tools.use("read_pages", key="EPUBBOG2", page_label="Endings")
    assert found == by_title
    assert found["pages"] == [
        {
            "cite": "[[cite:EPUBBOG2@s1]]",
            "section_index": 1,
            "quoted_section": "Endings",
            "quoted_text": "Endings\n\nIn the last winter the bog took the path back.",
        }
    ]


# What fits


@pytest.fixture(scope="module")
def long_shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """Works with much of everything: long pages in Latin and Chinese, a long section, many notes and annotations."""
    import asyncio

    folder = tmp_path_factory.mktemp("long")
    with EmptiedDatabase(folder / "zotero") as database:
        latin = database.work("LATINWK2", "Much in Latin", creators=[("author", "Pell", "Jo")])
        pages = [[f"Page {number} word{number} " + _prose(number)] for number in range(20)]
        database.attachment("LATINPD2", put(folder / "zotero", "LATINPD2", document_of(*pages).tobytes()), parent=latin)
        chinese = database.work("HANWORK2", "很多汉字", creators=[("author", "王", "")])
        database.attachment("HANPDFS2", put(folder / "zotero", "HANPDFS2", _chinese_pdf()), parent=chinese)
        book = database.work("LONGBOK2", "One Long Chapter", creators=[("author", "Marsh", "Ada")])
        text = " ".join(f'sentence{number} quotes "much" \\ here.' for number in range(3_000))
        write_epub(folder / "long.epub", {"one.xhtml": xhtml(f"<p>{text}</p>")})
        epub = put(folder / "zotero", "LONGEPU2", (folder / "long.epub").read_bytes(), "long.epub")
        database.attachment("LONGEPU2", epub, parent=book, content_type="application/epub+zip")
        many = database.work(
            "MANYWRK2",
            "Many Notes " * 200,
            creators=[("author", f"Name{number}" * 30, "Given") for number in range(60)],
            abstractNote="abstract " * 5_000,
            publicationTitle="Journal " * 500,
        )
        pdf = database.attachment("MANYPDF2", "storage:gone.pdf", parent=many)
        database.note("MANYNOT2", "<p>" + "note " * 8_000 + "end</p>", parent=many)
        for number in range(150):
            comment = f"comment {number} " + "more " * 200
            database.annotation(f"MANY{number:04}", pdf, '{"pageIndex": 0}', text=f"mark {number}", comment=comment)
    return asyncio.run(make_shelf(folder / "zotero", folder / "library.sqlite"))


def _prose(seed: int) -> str:
    return "\n".join(f"line {seed} {line} of the many that this page holds, none like another" for line in range(45))


def _chinese_pdf() -> bytes:
    document = document_of(*([] for _ in range(8)))
    for number, page in enumerate(document):
        for line in range(50):
            text = "".join(chr(0x4E00 + (number * 50 + line * 45 + place) % 5_000) for place in range(45))
            page.insert_text((40, 40 + 15 * line), text, fontname="china-s", fontsize=11)
    data: bytes = document.tobytes()
    return data


ASKS: list[tuple[str, dict[str, Any]]] = [
    ("search_library", {"query": "line page word1 mark comment note sentence7 much", "limit": 20}),
    ("search_library", {"query": " ".join(f"word{number}" for number in range(3_000))}),
    ("get_item", {"key": "MANYWRK2"}),
    ("read_pages", {"key": "LATINPD2", "count": 8}),
    ("read_pages", {"key": "HANPDFS2", "count": 8}),
    ("read_pages", {"key": "LONGEPU2"}),
]


@pytest.mark.req("A-4")
@pytest.mark.parametrize(("name", "arguments"), ASKS, ids=lambda value: str(value)[:40])
async def test_no_result_weighs_more_than_its_budget(
    long_shelf: Shelf, tmp_path: Path, name: str, arguments: dict[str, Any]
) -> None:
    """Whatever the script; the bare facts may need a little more than the smallest one."""
    async with toolbox(long_shelf, tmp_path) as tools:
        for budget in (SMALLEST_RESULT, 1_000, 2_000, 4_000, LARGEST_RESULT):
            result = await tools.raw(name, budget, **arguments)
            assert weight(json.loads(result.text())) <= max(budget, SMALLEST_RESULT + 500)


@pytest.mark.req("A-4")
async def test_a_long_page_is_read_on_from_where_it_was_cut(long_shelf: Shelf, tmp_path: Path) -> None:
    """Following the notes gives the whole section, word for word."""
    whole: list[str] = []
    async with toolbox(long_shelf, tmp_path) as tools:
        place: dict[str, int] = {"page_index": 0}
        for _ in range(100):
            found = await tools.use("read_pages", 2_000, key="LONGEPU2", **place)
            [page] = found["pages"]
            whole.append(page["quoted_text"].removesuffix(" […]"))
            if "note" not in found:
                break
            assert found["note"].startswith("The page is cut: go on at page_index 0, offset ")
            place = {"page_index": 0, "offset": int(found["note"].rpartition(" ")[2].rstrip("."))}
    words = "".join(whole).split()
    assert words[0] == "sentence0"
    assert words[-4:] == ["quotes", '"much"', "\\", "here."]
    assert [word for word in words if word.startswith("sentence")] == [f"sentence{number}" for number in range(3_000)]


@pytest.mark.req("A-4")
@pytest.mark.parametrize(("budget", "count"), [(1_500, 20), (LARGEST_RESULT, 20), (LARGEST_RESULT, 3)])
async def test_many_pages_are_read_on_until_the_end(long_shelf: Shelf, tmp_path: Path, budget: int, count: int) -> None:
    seen: list[int] = []
    async with toolbox(long_shelf, tmp_path) as tools:
        place: dict[str, int] = {"page_index": 0}
        for _ in range(100):
            found = await tools.use("read_pages", budget, key="LATINPD2", count=count - place["page_index"], **place)
            seen += [page["page_index"] for page in found["pages"]]
            if "note" not in found:
                break
            numbers = [int(word.strip(".,")) for word in found["note"].split() if word.strip(".,").isdigit()]
            place = (
                {"page_index": numbers[-1]}
                if "offset" not in found["note"]
                else dict(zip(("page_index", "offset"), numbers[-2:], strict=True))
            )
    assert sorted(set(seen)) == list(range(count))


@pytest.mark.req("A-4")
async def test_many_notes_and_annotations_are_read_on_until_the_end(long_shelf: Shelf, tmp_path: Path) -> None:
    notes: list[str] = []
    annotations: list[str] = []
    async with toolbox(long_shelf, tmp_path) as tools:
        place: dict[str, int] = {}
        for _ in range(200):
            found = await tools.use("get_item", 3_000, key="MANYWRK2", **place)
            notes += [note["quoted_text"].removesuffix(" […]") for note in found["notes"]]
            annotations += [each["cite"] for each in found["annotations"]]
            if "note" not in found:
                break
            numbers = [int(word.strip(".,")) for word in found["note"].split() if word.strip(".,").isdigit()]
            place = (
                dict(zip(("start", "offset"), numbers[-2:], strict=True))
                if "offset" in found["note"]
                else {"start": numbers[-1]}
            )
    assert "".join(notes).split() == ["note"] * 8_000 + ["end"]
    assert annotations == [f"[[cite:MANY{number:04}]]" for number in range(150)]


@pytest.mark.req("A-4")
@pytest.mark.parametrize("calls", [1, 2, 8, 40])
async def test_results_never_make_the_next_request_too_large(long_shelf: Shelf, tmp_path: Path, calls: int) -> None:
    """Text that costs more tokens than letters, in a small window, asked for many times at once."""
    window = Capacity(context_window=16_000, max_output=4_000, window_known=True)
    asked = [
        call("read_pages", {"key": "HANPDFS2", "page_index": number % 8, "count": 8}, f"call_{number}")
        for number in range(calls)
    ]
    model = ScriptedModel(*([ends(*asked)] for _ in range(12)), capacity=window)
    async with running(long_shelf, tmp_path, model) as room:
        _, answer = await room.branch(await room.send("汉字?"))
    sizes = [estimate_request(each.system, each.tools, each.messages) for each in model.requests]
    outputs = [request.max_output or 0 for request in model.requests]
    assert all(size + output <= window.context_window for size, output in zip(sizes, outputs, strict=True))
    refused = [part for part in answer.parts if isinstance(part, ToolCallPart) and part.state == "error"]
    assert all("no room left" in part.result for part in refused)


@pytest.mark.req("A-4", "C-13")
@pytest.mark.parametrize("insists", [False, True])
async def test_where_the_room_is_gone_the_model_answers_without_tools(
    long_shelf: Shelf, tmp_path: Path, insists: bool
) -> None:
    """One that calls a tool all the same gets no further request."""
    window = Capacity(context_window=8_000, max_output=1_500, window_known=True)
    read = ends(*(call("read_pages", {"key": "HANPDFS2", "page_index": n}, f"call_{n}") for n in range(8)))
    last = [*says("That is all I could read."), *([read] if insists else [ends()])]
    model = ScriptedModel([read], [read], last, capacity=window)
    async with running(long_shelf, tmp_path, model) as room:
        _, answer = await room.branch(await room.send("汉字?"))
        finished = room.last(TurnFinished)
    assert [bool(request.tools) for request in model.requests] == [True, True, False]
    assert (answer.text, answer.stop_reason) == ("That is all I could read.", "context_full")
    assert "context was full" in finished.sentence


@pytest.mark.req("A-4")
@pytest.mark.parametrize("text", ["word " * 2_000, "汉字" * 3_000, '"\\\n' * 2_000, "no-space" * 1_000, "short", ""])
def test_text_is_cut_to_what_it_weighs(text: str) -> None:
    for tokens in (2, 50, 500, 100_000):
        end = fitting(text, tokens)
        assert end == len(text) or weight(text[:end]) <= tokens
        assert end > 0 or tokens < 5 or not text
        assert fitted(text, tokens).endswith("[…]") == (end < len(text))


# Hostile documents


@pytest.mark.req("S-1")
async def test_documents_speak_only_in_quoted_fields(shelf: Shelf, tmp_path: Path) -> None:
    """A title, a page, a file's name and page labels that give orders and forge results."""

    def outside(value: object, quoted: bool = False) -> list[str]:
        if isinstance(value, dict):
            return [
                text
                for name, each in value.items()
                for text in [name, *outside(each, quoted or name.startswith("quoted_"))]
            ]
        if isinstance(value, list):
            return [text for each in value for text in outside(each, quoted)]
        return [] if quoted else [str(value)]

    async with toolbox(shelf, tmp_path) as tools:
        results = [
            await tools.use("search_library", query="previous instructions"),
            await tools.use("get_item", key="HOSTILE2"),
            await tools.use("read_pages", key="HOSTILE2"),
            await tools.use("read_pages", key="PDFHOST2", page_index=0),
        ]
    for result in results:
        assert INSTRUCTIONS in json.dumps(result)
        assert not [text for text in outside(result) if INSTRUCTIONS in text or "evil" in text or "PWNED" in text]
    assert results[2]["quoted_title"] == HOSTILE_TITLE


@pytest.mark.req("S-1", "Z-3")
async def test_a_citation_token_that_a_document_brings_along_is_broken_up(shelf: Shelf, tmp_path: Path) -> None:
    """A model that copies the page word for word cites nothing by it, and its quotation still stands there."""
    async with toolbox(shelf, tmp_path) as tools:
        result = await tools.use("read_pages", key="PDFHOST2")
    [page] = result["pages"]
    assert TOKEN.search(HOSTILE_PAGE)
    assert not TOKEN.search(page["quoted_text"])
    copied = f"“{page['quoted_text']}” {page['cite']}"
    model = ScriptedModel([ends(call("read_pages", {"key": "PDFHOST2"}))], answers(copied))
    async with running(shelf, tmp_path / "again", model) as room:
        await room.send("What does it say?")
        [citation] = room.told(AnswerCitation)
    assert (citation.state, citation.link) == ("verified", "zotero://open-pdf/library/items/PDFHOST2?page=1")


@pytest.mark.req("A-3", "C-19")
def test_the_model_is_told_of_the_tools_in_one_way_always() -> None:
    for spec in reading_tool_specs():
        assert spec.parameters["required"][0] in spec.parameters["properties"]
        json.dumps(spec.parameters)
    assert reading_tool_specs() == reading_tool_specs()
