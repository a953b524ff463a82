"""Programs in colour."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.ui.markdown.highlight import LONGEST_CODE, LONGEST_LINE, MOST_BLANK_LINES, highlight
from bibgenie_desktop.ui.markdown.text_style import DARK_CODE, LIGHT_CODE, CodeColours
from bibgenie_desktop.ui.theme import DARK, LIGHT

PROGRAM = "import os  # all\n\n\ndef f(x):\n    return 'a' if x else 12\n"


def test_a_program_has_the_colours_of_its_words() -> None:
    kinds = {text.strip(): kind for kind, text in highlight(PROGRAM, "python")}
    assert kinds["import"] == "keyword"
    assert kinds["# all"] == "comment"
    assert kinds["f"] == "name"
    assert kinds["'a'"] == "string"
    assert kinds["12"] == "number"


@pytest.mark.parametrize("name", ["python", "py", "Python3", "r", "R", "js", "sh", "latex", "c++", "bib", "fortran"])
def test_a_language_is_known_by_each_of_its_names(name: str) -> None:
    assert len(highlight("if x = 'a' % 1 // 2 \\begin{a}\n# c\n@a{b}\ny: 1", name)) > 1


@pytest.mark.parametrize("name", ["pytho", "", "nonsense", "../python", "python " * 50])
def test_a_name_that_is_not_known_gives_no_colours_and_no_search(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """While "python" arrives letter by letter, Pygments would look through every installed package each time."""
    asked: list[object] = []

    def entry_points(**group: str) -> list[object]:
        asked.append(group)
        return []

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    assert highlight(PROGRAM, name) == (("", PROGRAM),)
    assert asked == []


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    "code",
    [
        "x = 1\n" * (LONGEST_CODE // 6 + 1),
        "x" * (LONGEST_LINE + 1),
        "a" + "\n" * (MOST_BLANK_LINES + 2) + "b",
        "a" + " \t\n" * (MOST_BLANK_LINES + 2) + "b",
    ],
)
def test_code_that_could_take_long_has_no_colours(code: str) -> None:
    assert highlight(code, "python") == (("", code),)


@pytest.mark.req("S-1")
@pytest.mark.parametrize("language", ["java", "csharp", "sas", "markdown", "rst"])
def test_a_language_whose_lexer_is_slow_on_hostile_text_or_searches_itself_has_no_colours(language: str) -> None:
    assert highlight(PROGRAM, language) == (("", PROGRAM),)


@given(st.text(max_size=200), st.sampled_from(["python", "r", "html", "tex", "bash", "yaml", "console"]))
def test_no_character_of_a_program_is_lost(code: str, language: str) -> None:
    assert "".join(text for _, text in highlight(code, language)) == code


@pytest.mark.req("U-5")
@pytest.mark.parametrize(("colours", "ground"), [(LIGHT_CODE, LIGHT.chip), (DARK_CODE, DARK.chip)])
def test_every_colour_can_be_read_on_its_ground(colours: CodeColours, ground: str) -> None:
    for name in CodeColours.__slots__:
        assert contrast(getattr(colours, name), ground) >= 4.5, name


def contrast(one: str, other: str) -> float:
    """As WCAG 2 defines it, from 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    channels = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.req("U-4")
def test_warming_up_reads_the_rules_of_the_usual_languages_in_many_small_steps() -> None:
    """A process of its own: here the lexers may have been used already."""
    program = (
        "import sys\n"
        "from bibgenie_desktop.ui.markdown import highlight\n"
        "assert 'pygments' not in sys.modules\n"
        "steps = sum(1 for _ in highlight.load_languages())\n"
        "before = set(sys.modules)\n"
        "for name in ('python', 'r', 'sql', 'js'):\n"
        "    assert len(highlight.highlight('x = 2', name)) > 1, name\n"
        "assert set(sys.modules) == before\n"
        "print(steps)\n"
    )
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert int(output) > 20
