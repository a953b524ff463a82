"""CPU time from Markdown to a laid-out document, ours against `QTextDocument.setMarkdown`, for a median answer.

    python -m benchmarks.bench_markdown [--rounds N]

The answer is of the length of the median assistant message (1,464 characters), with what such answers hold: a heading,
nested lists, a table, a program, emphasis, a formula and citations.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

from PySide6.QtGui import QFont, QTextDocument
from PySide6.QtWidgets import QApplication

from bibgenie_desktop.protocol.values import Segment
from bibgenie_desktop.ui.chat.body import Look
from bibgenie_desktop.ui.chat.growing_text import GrowingText
from bibgenie_desktop.ui.chat.markdown_body import MarkdownBody
from bibgenie_desktop.ui.chat.text_run import Run
from bibgenie_desktop.ui.markdown.highlight import highlight
from bibgenie_desktop.ui.markdown.parser import parse
from bibgenie_desktop.ui.markdown.renderer import MarkdownRenderer, Rendered
from bibgenie_desktop.ui.markdown.source import AnswerSource
from bibgenie_desktop.ui.markdown.streaming import closed
from bibgenie_desktop.ui.markdown.text_style import TextStyle
from bibgenie_desktop.ui.theme import LIGHT

WIDTH = 680
STREAMED = 6
"""Times the answer, for a long one."""
CITATION = Segment("citation", "Okafor 2014, p. 147", "zotero://open-pdf/library/items/ABCD2345?page=3", "verified")
ANSWER = """\
Both works treat **uneven observer effort** as the main source of bias: sites near roads and cities are visited more \
often @, and the effort changes over the season @. They differ in the remedy, and *neither* reports how the remedy was \
tested on data that other people had collected @.

## Where they agree

| Work | Remedy | Evidence |
|:--|:--|--:|
| Hale 2010 | training and written protocols | @ |
| Okafor 2014 | mixed models with effort as covariate | @ |
| Lund 1962 | none; the bias is named only | @ |

1. Effort is measured in **hours**, not in visits:
   - visits of less than an hour count as one,
   - repeated visits are added up, see `effort_hours`.
2. The share of records within 1 km of a road, $p = 0.62$, is reported in one of them only.
3. Weekends are over-represented, and both say so without a number.

The model of the second work can be written down as follows, with $e_i$ for the effort at the site and a random
intercept for each site:

$$
\\log \\lambda_i = \\alpha + \\beta e_i + u_{s(i)}
$$

```python
import statsmodels.formula.api as smf

model = smf.mixedlm("count ~ effort + season", birds, groups=birds["site"])
result = model.fit(reml=True)
print(result.summary())  # the effort is significant
```

> Uneven effort is not noise. It is a signal of where people like to be.

So the two can be combined: **protocols** lower the bias while the data are collected, and the **covariate** takes out \
what is left @. What remains open is whether the covariate is effort at all, or the road itself.
"""


def source() -> AnswerSource:
    made = AnswerSource()
    for number, text in enumerate(ANSWER.split("@")):
        if number:
            made.add_citation(CITATION)
        made.add_text(text)
    return made


def document() -> QTextDocument:
    made = QTextDocument()
    font = QFont()
    font.setPixelSize(16)
    made.setDefaultFont(font)
    return made


def milliseconds(work: Callable[[], object], rounds: int) -> float:
    """The median of the CPU time."""
    work()
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return 1_000 * statistics.median(times)


def stream() -> list[float]:
    """The CPU milliseconds of each step of an answer that grows by twelve characters at a time."""
    highlight.cache_clear()
    shown = document()
    shown.setTextWidth(WIDTH)
    growing = GrowingText(shown)
    look = Look(LIGHT, LIGHT.text, 16, lambda link: link)
    growing.dress(MarkdownBody(lambda formula: None, lambda name: None), look, shown.defaultFont())
    text, segments, times = ANSWER * STREAMED, [Segment("text", "")], []
    for place in range(0, len(text), 12):
        for number, delta in enumerate(text[place : place + 12].split("@")):
            if number:
                segments += [CITATION, Segment("text", "")]
            segments[-1] = Segment("text", segments[-1].text + delta)
        run = Run(segments)
        start = time.process_time()
        growing.grow(run)
        shown.size()
        times.append(1_000 * (time.process_time() - start))
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    rounds: int = parser.parse_args().rounds
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication([])
    answer = source()
    style = TextStyle.of(LIGHT, dark=False, size=16, line_height=25, monospace="monospace")
    renderer = MarkdownRenderer(style, tip=lambda citation: citation.detail, picture=lambda formula: None)

    def render() -> Rendered:
        return renderer.render(answer.text, answer.citations)

    def render_afresh() -> Rendered:
        highlight.cache_clear()
        return render()

    def laid_out(fill: Callable[[QTextDocument], object]) -> None:
        made = document()
        fill(made)
        made.setTextWidth(WIDTH)
        made.size()

    html = render().html
    features = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
    costs = {
        "parse": milliseconds(lambda: parse(answer.text), rounds),
        "parse and render": milliseconds(render, rounds),
        "the same, program coloured afresh": milliseconds(render_afresh, rounds),
        "setHtml": milliseconds(lambda: document().setHtml(html), rounds),
        "render, setHtml and layout": milliseconds(lambda: laid_out(lambda made: made.setHtml(render().html)), rounds),
        "setMarkdown": milliseconds(lambda: document().setMarkdown(ANSWER, features), rounds),
        "setMarkdown and layout": milliseconds(
            lambda: laid_out(lambda made: made.setMarkdown(ANSWER, features)), rounds
        ),
        "which blocks are closed": milliseconds(lambda: closed(answer.text, 0), rounds),
    }
    print(f"{len(ANSWER)} characters of Markdown, {len(html)} of HTML; CPU milliseconds, median of {rounds}")
    for name, cost in costs.items():
        print(f"  {name:36} {cost:7.2f}")
    for name, ours, qt in (
        ("ratio to the document", "parse and render", "setMarkdown"),
        ("ratio end to end", "render, setHtml and layout", "setMarkdown and layout"),
    ):
        print(f"  {name:36} {costs[ours] / costs[qt]:7.1f}")
    flushes = sorted(stream())
    print(f"  {len(flushes)} flushes of an answer of {STREAMED * len(ANSWER)} characters, layout included:")
    for name, part in (("median", 0.5), ("95 %", 0.95), ("worst", 1)):
        print(f"    {name:34} {flushes[min(len(flushes) - 1, int(len(flushes) * part))]:7.2f}")
    del application


if __name__ == "__main__":
    main()
