"""A summary that the app puts together without a model: only what the messages say (D-12)."""

from __future__ import annotations

import pytest

from bibgenie_desktop.compaction.capacity import Capacity
from bibgenie_desktop.compaction.checking import Summarised, check
from bibgenie_desktop.compaction.deterministic import LABEL, deterministic_summary
from bibgenie_desktop.compaction.estimate import estimate_text
from bibgenie_desktop.compaction.prompts import bodies
from bibgenie_desktop.sessions.checkpoints import SECTIONS
from bibgenie_desktop.sessions.citations import Citation
from bibgenie_desktop.sessions.locators import PERSONAL, ItemRef, PageLocator
from bibgenie_desktop.sessions.nodes import Node
from bibgenie_desktop.sessions.parts import TextPart, ToolCallPart
from tests.compaction.chats import answer, checkpoint, user

pytestmark = pytest.mark.req("D-12")

TOKEN = "[[cite:PDFX2345@7]]"
CITED = Citation(TOKEN, "verified", "Hale 2010", PageLocator(ItemRef(PERSONAL, "PDFX2345"), 7, "iii"))


def chat(turns: int = 2) -> list[Node]:
    nodes: list[Node] = []
    for number in range(1, turns + 1):
        nodes.append(user(f"u{number}", f"What of the birds in year {number}? Cite pages."))
        text = f"They are few in year {number}. “Effort varies.” {TOKEN}"
        call = ToolCallPart(f"c{number}", "search_library", f'{{"query": "year {number}"}}', "done", '{"passages": []}')
        nodes.append(answer(f"a{number}", parts=[call, TextPart(text, (CITED,))]))
    return nodes


def test_it_has_all_sections_and_passes_the_check_by_hand() -> None:
    made = deterministic_summary(chat(), None, budget=2_000)
    assert list(bodies(made)) == list(SECTIONS)
    refusal = check(
        Summarised(made, "stop"),
        trigger="manual",
        range_tokens=500,
        capacity=Capacity(64_000, 8_000, True),
        language="en",
        tokens_before=1_000,
        tokens_after=lambda text: 500,
        size=estimate_text,
    )
    assert refusal is None


def test_the_persons_words_cited_statements_sources_and_vain_searches_are_in_it_word_for_word() -> None:
    found = bodies(deterministic_summary(chat(), None, budget=4_000))
    assert found["Research Goal"] == "[user] “What of the birds in year 1? Cite pages.”"
    assert "2026-11-30: “What of the birds in year 2? Cite pages.”" in found["User Requirements and Constraints"]
    assert f"“Effort varies.” {TOKEN} (Hale 2010, p. iii, verified)" in found["Findings and Evidence"]
    assert found["Key Zotero Resources"].count(TOKEN) == 1
    assert "page index 7, printed page iii" in found["Key Zotero Resources"]
    assert 'search_library {"query": "year 1"}: nothing found' in found["Critical Context"]
    assert LABEL in found["Critical Context"]
    assert found["Decisions"] == found["Next Steps"] == "None"


def test_a_failed_and_a_denied_call_are_told() -> None:
    calls = [
        ToolCallPart(f"c{state}", "read_pages", "{}", state, summary="no such key") for state in ("error", "denied")
    ]
    context = bodies(deterministic_summary([user("u1"), answer("a1", parts=calls)], None, budget=2_000))
    assert "read_pages {}: error, no such key" in context["Critical Context"]
    assert "read_pages {}: denied" in context["Critical Context"]


def test_what_was_known_before_stays_and_the_goal_is_the_first_one() -> None:
    first = deterministic_summary(chat(2), None, budget=4_000)
    later = [user("u9", "And in winter?"), answer("a9", "Fewer.")]
    found = bodies(deterministic_summary(later, checkpoint("c1", "u9", summary=first), budget=4_000))
    assert found["Research Goal"] == bodies(first)["Research Goal"]
    assert "year 1?" in found["User Requirements and Constraints"]
    assert "And in winter?" in found["User Requirements and Constraints"]
    assert TOKEN in found["Key Zotero Resources"]


@pytest.mark.parametrize("budget", [1_024, 2_000, 8_000])
def test_over_many_generations_it_stays_within_its_budget_and_says_what_it_leaves_out(budget: int) -> None:
    made = deterministic_summary(chat(40), None, budget=budget)
    for generation in range(20):
        made = deterministic_summary(chat(10 + generation), checkpoint("c1", "u1", summary=made), budget=budget)
        assert estimate_text(made) <= budget * 1.25
    assert "earlier entries left out" in made
    assert "“What of the birds in year 29? Cite pages.”" in made
