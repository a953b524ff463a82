"""The estimate of tokens: never below what tokenizers charge, in any script (C-5)."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.compaction.estimate import estimate_message, estimate_text, estimate_tools
from bibgenie_desktop.compaction.messages import AssistantMessage, ToolCall, ToolMessage, ToolSpec, UserMessage
from bibgenie_desktop.compaction.projection import estimate_request

TEXTS = {
    "English": "The printed page number and the page index of a file are two different things; a citation needs both. ",
    "German": "Die gedruckte Seitenzahl und der Seitenindex einer Datei sind zweierlei, ein Beleg braucht beide. ",
    "French": "Le numéro de page imprimé et l’indice de la page d’un fichier sont deux choses différentes. ",
    "Polish": "Wydrukowany numer strony i indeks strony w pliku to dwie różne rzeczy; źródło wymaga obu. ",
    "Turkish": "Basılı sayfa numarası ile dosyadaki sayfa dizini iki ayrı şeydir; alıntı ikisine de ihtiyaç duyar. ",
    "Vietnamese": "Số trang in và chỉ số trang của tệp là hai thứ khác nhau, và trích dẫn cần cả hai. ",
    "Russian": "Печатный номер страницы и её индекс в файле это разные вещи, и ссылке нужны оба. ",
    "Greek": "Ο τυπωμένος αριθμός σελίδας και ο δείκτης της σελίδας είναι δύο διαφορετικά πράγματα. ",
    "Arabic": "رقم الصفحة المطبوع وفهرس الصفحة في الملف شيئان مختلفان ويحتاج الاقتباس إلى كليهما. ",
    "Hebrew": "מספר העמוד המודפס ומספר העמוד בקובץ הם שני דברים שונים. ",
    "Hindi": "मुद्रित पृष्ठ संख्या और फ़ाइल का पृष्ठ सूचकांक दो अलग चीज़ें हैं। ",
    "Thai": "หมายเลขหน้าที่พิมพ์กับดัชนีหน้าในไฟล์เป็นสองสิ่งที่ต่างกัน ",
    "Tamil": "அச்சிடப்பட்ட பக்க எண்ணும் கோப்பின் பக்க எண்ணும் வேறு. ",
    "Georgian": "ნაბეჭდი გვერდის ნომერი და ფაილის გვერდის ინდექსი სხვადასხვაა. ",
    "Burmese": "ပုံနှိပ်ထားသော စာမျက်နှာနံပါတ် ",
    "Chinese": "印刷的页码和文件中的页索引是两回事，引用时两者都需要。",
    "Japanese": "印刷されたページ番号とファイルのページ索引は別のものであり、引用には両方が必要です。",
    "Korean": "인쇄된 쪽 번호와 파일의 쪽 색인은 서로 다른 것이며 인용에는 둘 다 필요하다. ",
    "cuneiform": "𒀀𒀁𒀂𒀃𒀄",
    "emoji": "😀📚🧪👩‍🔬🇩🇪✨",
    "code": "def f(x: int) -> dict[str, list[int]]:\n    return {str(i): [i ** 2 for i in range(x)]}\n",
    "a tool's result": '{"cite": "[[cite:ABCD2345@7]]", "page_index": 7, "page_label": "xii", "quoted_text": "…"}, ',
    "figures": "3.14159 2.71828 1.41421 0.57721 42 7 1999 2026 88 13 5\n",
    "single figures": "1 2 3 4 5 6 7 8 9 0 ",
    "keys": "ABCD2345 Q7XK9PLM 8ZT4W2VN 5HJ3R6YB ",
    "formula": "∑_{i=1}^{n} α_i β_i ≤ √(Σα²·Σβ²) ⇒ ∀ε>0 ∃δ: |x−y|<δ ",
    "signs": "!@#$%^&*()_+{}|:<>?~`-=[];',./ ",
}


@pytest.fixture(scope="module")
def tokenizers() -> dict[str, Callable[[str], int]]:
    """Real tokenizers, from the files that litellm brings; litellm itself is not imported."""
    tiktoken = pytest.importorskip("tiktoken")
    huggingface = pytest.importorskip("tokenizers")
    litellm = importlib.util.find_spec("litellm")
    assert litellm is not None
    assert litellm.origin is not None
    folder = Path(litellm.origin).parent / "litellm_core_utils" / "tokenizers"
    counts: dict[str, Callable[[str], int]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        for name in ("cl100k_base", "o200k_base"):
            counts[name] = _tiktoken(tiktoken.get_encoding(name))
    for name in ("anthropic", "deepseek"):
        counts[name] = _huggingface(huggingface.Tokenizer.from_file(str(folder / f"{name}_tokenizer.json")))
    return counts


def _tiktoken(encoding: object) -> Callable[[str], int]:
    return lambda text: len(encoding.encode(text, disallowed_special=()))  # type: ignore[attr-defined]


def _huggingface(tokenizer: object) -> Callable[[str], int]:
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)  # type: ignore[attr-defined]


@pytest.mark.req("C-5")
@pytest.mark.parametrize("name", TEXTS)
def test_no_tokenizer_charges_more_than_the_estimate(name: str, tokenizers: dict[str, Callable[[str], int]]) -> None:
    text = TEXTS[name] * 5
    charged = {tokenizer: count(text) for tokenizer, count in tokenizers.items()}
    assert max(charged.values()) <= estimate_text(text), charged


@pytest.mark.req("C-5")
def test_the_estimate_of_prose_is_not_absurd(tokenizers: dict[str, Callable[[str], int]]) -> None:
    """Too high an estimate wastes the window: for English less than twice."""
    text = TEXTS["English"] * 5
    assert estimate_text(text) < 2 * tokenizers["o200k_base"](text)


@pytest.mark.req("C-5")
@given(st.text(), st.text())
def test_more_text_never_counts_less_and_parts_never_less_than_the_whole(one: str, two: str) -> None:
    whole = estimate_text(one + two)
    assert max(estimate_text(one), estimate_text(two)) <= whole <= estimate_text(one) + estimate_text(two) <= whole + 1


@pytest.mark.req("C-5")
@given(st.text(st.characters() | st.characters(categories=["Cs"])))
def test_every_character_counts_and_none_breaks_the_count(text: str) -> None:
    assert estimate_text(text) >= -(-len(text) * 3 // 10)
    assert (estimate_text(text) == 0) == (text == "")


@pytest.mark.req("C-5")
@given(st.text(), st.text(), st.text())
def test_whatever_a_message_carries_is_counted(call_id: str, arguments: str, result: str) -> None:
    call = ToolCall(call_id, "search", arguments, {"extra_content": {"signature": "s" * 300}})
    assert estimate_message(AssistantMessage("", (call,))) >= estimate_text(arguments + call_id + "s" * 300)
    assert estimate_message(ToolMessage(call_id, "search", result)) >= estimate_text(call_id + "search" + result)
    assert estimate_message(UserMessage(result)) > estimate_text(result)


@pytest.mark.req("C-5")
def test_an_id_that_hides_a_signature_is_counted_with_the_call_and_with_its_result() -> None:
    """Some providers carry a thought's signature in the id of a call: kilobytes, which are sent twice."""
    long = "call_" + "Ab9+" * 500
    short = estimate_message(ToolMessage("call_1", "search", "{}"))
    assert estimate_message(ToolMessage(long, "search", "{}")) >= short + 500


@pytest.mark.req("C-5")
def test_a_request_counts_its_system_prompt_its_tools_and_its_messages() -> None:
    tool = ToolSpec("search", "Search the library.", {"type": "object", "properties": {"query": {"type": "string"}}})
    empty = estimate_request("", [], [])
    assert empty == 0
    assert estimate_request("Be brief.", [], []) == estimate_text("Be brief.")
    assert estimate_request("", [tool], []) == estimate_tools([tool]) > estimate_text("Search the library.")
    assert estimate_request("", [], [UserMessage("Why?")]) == estimate_message(UserMessage("Why?"))
