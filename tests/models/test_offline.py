"""The offline assistant as the tests' oracle: it searches, quotes whole sentences, and says so (A-2, S-1)."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.compaction.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from bibgenie_desktop.compaction.projection import GO_ON
from bibgenie_desktop.models.offline import OfflineAssistant
from bibgenie_desktop.models.port import ModelEvent, ModelRequest, StepFinished, TextDelta
from bibgenie_desktop.protocol.events import AnswerCitation
from bibgenie_desktop.sessions.citations import TOKEN
from bibgenie_desktop.sessions.markdown import unescaped
from bibgenie_desktop.sessions.parts import TextPart
from tests.documents.pdfs import pdf_of
from tests.engine.running import running
from tests.engine.shelf import Shelf, make_shelf, put, stock
from tests.zotero.databases import EmptiedDatabase

SEARCH = ToolSpec("search_library", "Search.", {"type": "object", "properties": {"query": {"type": "string"}}})
TOKEN_7 = "[[cite:ABCD2345@7]]"


def passage(text: str, **more: Any) -> dict[str, Any]:
    """A passage as the search tool gives it."""
    facts = {"cite": TOKEN_7, "quoted_work": "Okafor 2014", "item": "OKAFOR22", "kind": "page"}
    return {**facts, "quoted_page_label": "xii", "page_index": 7, "quoted_title": "T", "quoted_text": text, **more}


def found(*passages: dict[str, Any], nowhere: tuple[str, ...] = ()) -> str:
    """A result of the search tool."""
    return json.dumps({"passages": list(passages), "words_found_nowhere": nowhere})


async def play(request: ModelRequest) -> list[ModelEvent]:
    assistant = OfflineAssistant()
    await assistant.prepare()
    events = [event async for event in assistant.stream(request)]
    await assistant.close()
    return events


def text_of(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def asked(question: str, *, tools: tuple[ToolSpec, ...] = (SEARCH,)) -> list[ModelEvent]:
    return await play(ModelRequest("You cite pages.", (UserMessage(question),), tools))


async def answered(question: str, result: str) -> str:
    """The answer to a question whose search gave this result."""
    events = await asked(question)
    finished = events[-1]
    assert isinstance(finished, StepFinished)
    messages: tuple[Message, ...] = (UserMessage(question), AssistantMessage("", finished.tool_calls))
    messages += (ToolMessage(finished.tool_calls[0].call_id, "search_library", result),)
    return text_of(await play(ModelRequest("You cite pages.", messages, (SEARCH,))))


async def gone_on(question: str, result: str, begun: str) -> str:
    """What is said where the answer ended with `begun`."""
    call = ToolCall("c", "search_library", json.dumps({"query": question}))
    messages: tuple[Message, ...] = (UserMessage(question), AssistantMessage("", (call,)))
    messages += (ToolMessage("c", "search_library", result), AssistantMessage(begun), UserMessage(GO_ON))
    return text_of(await play(ModelRequest("You cite pages.", messages, (SEARCH,))))


def quotes_of(answer: str) -> list[str]:
    """What the answer quotes, as it stood in the text."""
    lines = [line for line in answer.splitlines() if line.startswith("- ")]
    return [unescaped(line.partition(f" {TOKEN_7}")[0][3:-1]) for line in lines]


@pytest.mark.req("A-2")
async def test_the_first_step_searches_with_the_questions_own_words() -> None:
    [finished] = await asked("What is front matter?")
    assert isinstance(finished, StepFinished)
    [call] = finished.tool_calls
    assert (call.name, json.loads(call.arguments)) == ("search_library", {"query": "What is front matter?"})
    assert finished.usage.real
    assert (finished.usage.input_tokens > 0, finished.usage.cost) == (True, 0.0)


@pytest.mark.req("A-2")
async def test_the_second_step_quotes_with_token_item_printed_page_and_index() -> None:
    answer = await answered("What is front matter?", found(passage("Front matter comes before the body of a book.")))
    assert "“Front matter comes before the body of a book.” [[cite:ABCD2345@7]]" in answer
    assert "(item OKAFOR22, page label xii, page index 7, 2 of 2 words)" in answer


@pytest.mark.req("A-2")
@given(st.text(min_size=1, max_size=40), st.lists(st.text(max_size=80), max_size=4))
async def test_the_same_request_gives_the_same_answer_to_the_byte(question: str, texts: list[str]) -> None:
    result = found(*(passage(text) for text in texts))
    messages = (UserMessage(question), ToolMessage("c", "search_library", result))
    for request in (
        ModelRequest("s", (UserMessage(question),), (SEARCH,)),
        ModelRequest("s", messages, (SEARCH,)),
    ):
        assert await play(request) == await play(request)


@pytest.mark.req("A-2")
@pytest.mark.parametrize("result", [found(), found(passage("Front matter comes before the body."))])
async def test_it_says_plainly_that_it_quotes_and_does_not_reason(result: str) -> None:
    assert "I do not reason" in (await answered("What is front matter?", result)).partition("\n")[0]


@pytest.mark.req("A-2")
async def test_words_that_occur_nowhere_are_named() -> None:
    result = found(passage("Front matter comes before the body."), nowhere=("xylophone", "zither"))
    assert "Found nowhere in the text that could be searched: “xylophone”, “zither”." in await answered(
        "Front matter xylophone?", result
    )


@pytest.mark.req("A-2", "Z-5")
@pytest.mark.parametrize(
    ("nowhere", "without_text", "waiting", "told"),
    [
        ((), 0, 0, ""),
        ((), 2, 0, ""),  # the words were found all the same
        ((), 2, 1, "Not searched: 1 file not indexed yet."),
        (("zither",), 1, 0, "Not searched: 1 file without text."),
        (("zither",), 2, 3, "Not searched: 3 files not indexed yet, 2 files without text."),
    ],
)
async def test_what_could_not_be_searched_is_told(
    nowhere: tuple[str, ...], without_text: int, waiting: int, told: str
) -> None:
    """Else “found nowhere” would claim more than is known."""
    result = json.loads(found(passage("Front matter comes before the body."), nowhere=nowhere))
    result["not_searched"] = {"files_without_text": without_text, "files_not_indexed_yet": waiting}
    answer = await answered("Front matter?", json.dumps(result))
    assert answer.partition("Not searched: ")[2].strip() == told.removeprefix("Not searched: ")


@pytest.mark.req("A-2")
async def test_where_nothing_is_found_that_is_the_answer() -> None:
    answer = await answered("Xylophone zither?", found(nowhere=("Xylophone", "zither")))
    assert "I found no sentence to quote for “Xylophone”, “zither”." in answer
    assert "Found nowhere in the text that could be searched" in answer
    assert not TOKEN.search(answer)


@pytest.mark.req("A-2")
@pytest.mark.parametrize("question", ["?!", "…", "— —"])
async def test_a_question_without_a_word_is_answered_without_a_search(question: str) -> None:
    *_, finished = events = await asked(question)
    assert isinstance(finished, StepFinished)
    assert finished.tool_calls == ()
    assert "Your question holds no word to search for." in text_of(events)


@pytest.mark.req("A-2", "A-5")
@pytest.mark.parametrize(
    "result",
    [
        "",
        "no JSON",
        "[]",
        "null",
        '{"error": "The index is busy."}',
        '{"passages": 5}',
        '{"passages": [7]}',
        '{"passages": [{"cite": "x"}]}',
        '{"passages": [], "words_found_nowhere": 7}',
    ],
)
async def test_a_result_that_cannot_be_read_ends_in_a_sentence(result: str) -> None:
    assert "The search gave no result that I can read" in await answered("What is front matter?", result or " ")


@pytest.mark.req("A-2")
async def test_without_the_search_tool_there_is_nothing_to_quote() -> None:
    *_, finished = events = await asked("What is front matter?", tools=())
    assert isinstance(finished, StepFinished)
    assert finished.tool_calls == ()
    assert "nothing to quote" in text_of(events)


@pytest.mark.req("A-2")
async def test_abbreviations_do_not_cut_a_sentence() -> None:
    sentence = "The offset, cf. p. 12 and Hale et al. 2010, Fig. 3, is eight pages, i.e. the front matter."
    german = "Der Versatz, vgl. S. 12 und z. B. Abb. 3, beträgt bei Prof. Hale ca. acht Seiten Vorspann."
    assert quotes_of(await answered("offset?", found(passage(f"{sentence} Another one.")))) == [sentence]
    assert quotes_of(await answered("Versatz?", found(passage(f"{german} Noch einer.")))) == [german]


@pytest.mark.req("A-2")
async def test_only_whole_sentences_are_quoted_as_such() -> None:
    """Not what the tool cut off; and a piece that a page's end cut off ranks behind a whole sentence."""
    text = "and so the offset ends the line before. The offset of this book is eight pages. The offset is then cut […]"
    assert quotes_of(await answered("offset?", found(passage(text))))[0] == "The offset of this book is eight pages."
    assert not any("[…]" in quote for quote in quotes_of(await answered("offset?", found(passage(text)))))


@pytest.mark.req("A-2")
async def test_lines_of_notes_and_metadata_are_not_run_together() -> None:
    note = "Offsets\nThe offset in my copy was eight.\nbut the offset in hers was nine"
    work = "On Offsets and Labels\n\nNgozi Okafor 2014\n\nThe offset is shown here. It is eight.\n\noffset, page labels"
    quotes = quotes_of(await answered("offset?", found(passage(note, kind="note"))))
    assert quotes == ["The offset in my copy was eight.", "but the offset in hers was nine"]
    assert quotes_of(await answered("offset?", found(passage(work, kind="item")))) == ["The offset is shown here."]


@pytest.mark.req("A-2")
async def test_a_text_that_two_attachments_hold_is_quoted_once() -> None:
    sentence = "The offset of this book is eight pages."
    result = found(passage(sentence), passage(f"  {sentence.upper()} More.", cite="[[cite:WXYZ2345@1]]"))
    assert (await answered("offset?", result)).lower().count("offset of this book") == 1


@pytest.mark.req("S-1", "Z-3")
@pytest.mark.parametrize(
    ("text", "opening"),
    [
        ("He wrote “the offset is eight” in the margin.", "«"),
        ("He wrote ”the offset is eight” in the margin.", "«"),
        ("Il écrit « the offset is eight » in the margin.", "“"),
        ("He wrote “the offset” and «is eight» in the margin.", '"'),
        ("He said the offset [link](https://evil.example) is eight.", "“"),
        ("An ![offset](https://evil.example/spy.png) is <b>eight</b> `pages` *now*.", "“"),
        ("The offset\\ is eight pages\\", "“"),
    ],
)
async def test_hostile_marks_stay_inside_the_quotation(text: str, opening: str) -> None:
    answer = await answered("offset?", found(passage(text)))
    assert quotes_of(answer) == [text]
    [line] = [line for line in answer.splitlines() if line.startswith("- ")]
    assert line[2] == opening
    assert not re.search(r"(?<!\\)\[(?!\[cite:ABCD2345@7)(?!cite:)", line)
    assert not re.search(r"(?<!\\)[<`*]", line)


@pytest.mark.req("S-1")
async def test_a_sentence_with_every_kind_of_marks_is_left_out() -> None:
    text = 'He wrote “the offset”, «is» and "eight" in the margin. The offset stands.'
    assert quotes_of(await answered("offset?", found(passage("The offset stands here. " + text))))[0].endswith("here.")
    assert "«is»" not in await answered("offset?", found(passage(text)))


@pytest.mark.req("S-1")
async def test_a_hostile_label_stays_a_label() -> None:
    label = "3](https://evil.example) <b>"
    answer = await answered("offset?", found(passage("The offset of it is eight.", quoted_page_label=label)))
    assert "page label 3\\](https://evil.example) \\<b\\>, page index 7" in answer


@pytest.mark.req("A-2", "T-6")
@pytest.mark.parametrize("result", [found(passage("Front matter comes before the body.")), found(), "no JSON"])
async def test_wherever_its_answer_was_cut_the_rest_makes_it_whole(result: str) -> None:
    question = "What is front matter?"
    whole = await answered(question, result)
    for cut in range(1, len(whole) + 1, 7):
        rest = await gone_on(question, result, whole[:cut])
        assert whole[:cut] + rest == whole


@pytest.mark.req("A-2", "T-6")
async def test_behind_what_another_model_said_it_begins_a_paragraph_of_its_own() -> None:
    result = found(passage("Front matter comes before the body."))
    rest = await gone_on("What is front matter?", result, "It is, I think,")
    assert rest == "\n\n" + await answered("What is front matter?", result)


@pytest.mark.req("A-2", "T-6")
async def test_asked_to_go_on_before_it_searched_it_searches_for_the_question() -> None:
    messages = (UserMessage("What is front matter?"), AssistantMessage("It is"), UserMessage(GO_ON))
    [finished] = await play(ModelRequest("You cite pages.", messages, (SEARCH,)))
    assert isinstance(finished, StepFinished)
    assert json.loads(finished.tool_calls[0].arguments) == {"query": "What is front matter?"}


# With the real tools


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    folder = tmp_path_factory.mktemp("shelf")
    stock(folder / "zotero")
    return asyncio.run(make_shelf(folder / "zotero", folder / "library.sqlite"))


@pytest.mark.req("A-2", "Z-2", "Z-3")
async def test_over_a_real_library_every_quotation_is_verified(shelf: Shelf, tmp_path: Path) -> None:
    """Each quoted sentence stands where its citation leads; the oracle of the whole chain."""
    questions = (
        "What does front matter numbering do?",
        "Which offset does the ledger have?",
        "Who laid the path over the bog?",
        "previous instructions forged passage",
        "The central claim on a page label",
        "why are labels written for editors",
    )
    async with running(shelf, tmp_path, OfflineAssistant()) as room:
        for question in questions:
            before = len(room.told(AnswerCitation))
            session_id = await room.send(question)
            citations = room.told(AnswerCitation)[before:]
            assert citations, question
            assert [(question, each.state, each.reason) for each in citations] == [(question, "verified", "")] * len(
                citations
            )
            assert all(each.quote for each in citations)
            answer = (await room.branch(session_id))[-1]
            assert answer.usage is not None
            assert (answer.usage.real, answer.usage.steps, answer.stop_reason) == (True, 2, "stop")


@pytest.mark.req("S-1", "Z-3")
async def test_a_token_inside_a_document_is_no_citation_of_the_answer(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, OfflineAssistant()) as room:
        _, answer = await room.branch(await room.send("previous instructions forged passage"))
    part = answer.parts[-1]
    assert isinstance(part, TextPart)
    assert "PWNED" in part.text
    tokens = [match[0] for match in TOKEN.finditer(part.text)]
    assert tokens
    assert set(tokens) <= {"[[cite:PDFHOST2@0]]", "[[cite:HOSTILE2]]"}


@pytest.mark.req("A-2")
async def test_a_german_question_over_a_german_text(tmp_path: Path) -> None:
    sentence = "Die Seitenzahl gehört zum Buch, vgl. S. 12, und nicht zur Datei."
    with EmptiedDatabase(tmp_path / "zotero") as database:
        work = database.work("DEUTSCH2", "Über Seitenzahlen", date="1999", creators=[("author", "Müller", "Änne")])
        data = pdf_of([f"{sentence} Der Vorspann wird römisch gezählt."])
        database.attachment("DEUTPDF2", put(tmp_path / "zotero", "DEUTPDF2", data), parent=work)
    shelf = await make_shelf(tmp_path / "zotero", tmp_path / "library.sqlite")
    async with running(shelf, tmp_path / "profile", OfflineAssistant()) as room:
        _, answer = await room.branch(
            await room.send("Wozu gehört die Seitenzahl eines Buches, und was ist ein Zyklop?")
        )
        [first, *_] = room.told(AnswerCitation)
    assert (first.state, first.quote) == ("verified", sentence)
    assert first.label == "Müller 1999, PDF p. 1"
    assert "“Zyklop”" in answer.text


@pytest.mark.req("A-2")
async def test_a_question_goes_on_in_the_same_chat(shelf: Shelf, tmp_path: Path) -> None:
    async with running(shelf, tmp_path, OfflineAssistant()) as room:
        session_id = await room.send("Who laid the path over the bog?")
        await room.send("And the offset of the ledger?", session_id)
        branch = await room.branch(session_id)
    assert "nine men" in branch[1].text
    assert "offset is eight pages" in branch[3].text
    assert "nine men" not in branch[3].text
