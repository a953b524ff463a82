"""How near the estimate of tokens is to real tokenizers, and how fast.

    python -m benchmarks.bench_estimate [--rounds N]

For each kind of text, at least 20 KB of it: the estimate for a family, divided by what that family's tokenizer charges
(goal: 1.0 to 1.6); the estimate for an unknown family, divided by what the dearest and the cheapest of all tokenizers
charge (goal: at least 1.0, at most 3.5); and MB of text a second of CPU (goal: at least 10). Below these, the languages
that Qt is translated into, as short strings of a program: for the unknown family at least 1.0, for a known one at least
0.8, since what its tokenizer hardly saw it cuts as finely as what is random. Goals: C-5, issue "Context compaction".
Ends with 1 if one is missed.

The tokenizers are those whose files litellm brings: two of OpenAI's, one of DeepSeek's, and the last that Anthropic
published. No network is used. Prose is our own, in sentences of a random order; code is that of this checkout and of
Python; the rest is generated.
"""

from __future__ import annotations

import argparse
import base64
import importlib.util
import json
import os
import random
import statistics
import struct
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import PySide6
import tiktoken
import tokenizers

from bibgenie_desktop.compaction.estimate import estimate_text

CHECKOUT = Path(__file__).parents[1]
LEAST_BYTES = 20_000
KNOWN_LIMIT, UNKNOWN_LIMIT, SPEED_LIMIT = 1.6, 3.5, 10.0
RARE_LIMIT = 0.8
FAMILIES = ("cl100k", "o200k")

Count = Callable[[str], int]

GERMAN = """\
Die gedruckte Seitenzahl und der Seitenindex einer Datei sind zweierlei, und ein Beleg braucht beide.
Wer Vögel zählt, zählt zuerst sich selbst: Orte nahe der Straße werden häufiger besucht als abgelegene Wälder.
Die Verfasserin wertet dreiundzwanzig Jahrgänge eines Brutvogelatlasses aus und findet einen deutlichen Zusammenhang \
zwischen Beobachtungsaufwand und gemeldeter Artenzahl.
Ungeklärt bleibt, ob der Rückgang der Feldlerche auf die veränderte Landnutzung oder auf die Witterung zurückgeht.
In der Einleitung heißt es, die Erhebung sei »mit größter Sorgfalt« durchgeführt worden; der Anhang widerspricht dem.
Dagegen lässt sich einwenden, dass die Stichprobe klein ist und überwiegend aus Gärten am Stadtrand stammt.
Für die Auswertung wurden gemischte Modelle mit dem Standort als zufälligem Effekt verwendet.
Bitte fasse die drei Aufsätze zusammen und nenne zu jeder Aussage die Seite, auf der sie steht.
Das Verfahren ist weder neu noch unumstritten, wird aber seit den achtziger Jahren in vielen Ländern angewandt.
Ich habe die Anmerkungen gelesen, kann die zweite Fußnote jedoch keiner der genannten Quellen zuordnen.
Zunächst sollten die Begriffe geklärt werden, denn unter Genauigkeit versteht jede Arbeit etwas anderes.
Die Ergebnisse wurden von zwei unabhängigen Gutachtern geprüft und nach Rückfragen bei den Beobachtern berichtigt.
"""
CHINESE = """\
印刷的页码和文件中的页索引是两回事，引用时两者都需要。
观察者往往更频繁地访问道路附近的地点，因此记录的数量并不能直接反映物种的真实分布。
作者分析了二十三年的鸟类调查数据，发现观察时间与记录到的物种数之间有明显的关系。
目前还不清楚云雀数量的减少是由于土地利用的变化，还是由于气候的影响。
引言中说调查进行得非常仔细，但附录里的说明与此不符。
有人会反对说，样本太小，而且大部分来自城市边缘的花园。
请总结这三篇论文，并为每一个结论注明它所在的页码。
这种方法既不新也不是没有争议，但自八十年代以来在许多国家得到了应用。
我读了所有的注释，却找不到第二个脚注所引用的文献。
首先应当澄清概念，因为每一项研究对“准确性”的理解都不一样。
结果由两位独立的专家审核，并在询问观察者之后作了更正。
模型把观察努力作为协变量，并为每一个地点设置一个随机截距。
"""
ARABIC = """\
رقم الصفحة المطبوع وفهرس الصفحة في الملف شيئان مختلفان، ويحتاج الاقتباس إلى كليهما.
يزور المراقبون الأماكن القريبة من الطرق أكثر من غيرها، ولذلك لا يعكس عدد السجلات التوزيع الحقيقي للأنواع.
حللت الباحثة بيانات ثلاثة وعشرين عاماً من مسح الطيور ووجدت علاقة واضحة بين مدة المراقبة وعدد الأنواع المسجلة.
وليس من الواضح حتى الآن ما إذا كان تراجع أعداد القبرة يعود إلى تغير استخدام الأراضي أم إلى المناخ.
تقول المقدمة إن المسح أجري بعناية كبيرة، غير أن الملحق يناقض ذلك.
يمكن الاعتراض بأن العينة صغيرة وأن معظمها جاء من حدائق على أطراف المدينة.
من فضلك لخص المقالات الثلاث واذكر لكل نتيجة الصفحة التي وردت فيها.
هذه الطريقة ليست جديدة ولا تخلو من الجدل، لكنها تستخدم في بلدان كثيرة منذ الثمانينيات.
قرأت جميع الملاحظات ولم أجد المصدر الذي تشير إليه الحاشية الثانية.
ينبغي أولاً توضيح المفاهيم، لأن كل دراسة تفهم الدقة بمعنى مختلف.
راجع النتائج خبيران مستقلان، وصححت بعد سؤال المراقبين.
يستخدم النموذج جهد المراقبة متغيراً مصاحباً مع أثر عشوائي لكل موقع.
"""
LATEX = r"""
\section{A model of observer effort}\label{sec:model}
Let $N_{i,t}$ be the number of individuals at site $i$ in year $t$. We assume
\begin{equation}\label{eq:rate}
  N_{i,t} \sim \mathrm{Poisson}(\lambda_{i,t}), \qquad \log\lambda_{i,t} = \alpha + \beta e_{i,t} + u_i,
\end{equation}
where $e_{i,t}$ is the effort in hours and $u_i \sim \mathcal{N}(0,\sigma_u^2)$ a random intercept~\cite{okafor2014}.

\begin{theorem}
If $\sum_{k=0}^{\infty} a_k$ converges absolutely, then so does $\sum_{k=0}^{\infty} a_{\pi(k)}$ for every permutation
$\pi$ of $\mathbb{N}$, and both have the same limit.
\end{theorem}
\begin{proof}
Let $\varepsilon > 0$. Choose $n_0$ such that $\sum_{k > n_0} |a_k| < \varepsilon/2$; see \eqref{eq:rate}. \qedhere
\end{proof}

\begin{align*}
  \nabla \cdot \mathbf{E} &= \frac{\rho}{\varepsilon_0}, & \nabla \times \mathbf{B} &= \mu_0 \mathbf{J}
  + \mu_0 \varepsilon_0 \frac{\partial \mathbf{E}}{\partial t}.
\end{align*}

\begin{table}[htbp]
  \centering
  \begin{tabular}{lrr}
    \toprule
    Estimator & Bias & RMSE \\
    \midrule
    \textsc{glm} & $0.12$ & $0.34$ \\
    \textsc{glmm} & $0.03$ & $0.19$ \\
    \bottomrule
  \end{tabular}
  \caption{Bias and error of two estimators of $\hat\beta$, \emph{cf.}\ Figure~\ref{fig:bias}.}
\end{table}

The likelihood ratio is $\Lambda = -2\log\bigl(L(\hat\theta_0)/L(\hat\theta_1)\bigr) \to \chi^2_{p}$, so that
\[ \Pr\!\left( \left| \frac{1}{n} \sum_{i=1}^{n} X_i - \mu \right| > \delta \right) \le 2\exp(-2 n \delta^2). \]

\begin{itemize}
  \item \texttt{glmer} fits \eqref{eq:rate} by a Laplace approximation; the gradient is given in Appendix~B.
  \item Weekends are over-represented, as \citet[p.~147]{hale2010} note.
\end{itemize}
"""


def texts(chance: random.Random) -> dict[str, str]:
    """At least LEAST_BYTES of every kind of text that there is a goal for."""
    own = [path.read_text("utf-8") for path in sorted((CHECKOUT / "bibgenie_desktop").glob("[ces]*/*.py"))]
    python = [Path(module).read_text("utf-8") for module in (json.decoder.__file__, statistics.__file__)]
    return {
        "English": "\n".join(path.read_text("utf-8") for path in sorted((CHECKOUT / "docs").glob("*.md"))),
        "German": mixed(GERMAN.splitlines(), " ", chance),
        "Chinese": mixed(CHINESE.splitlines(), "", chance),
        "Arabic": mixed(ARABIC.splitlines(), " ", chance),
        "LaTeX": mixed(LATEX.split("\n\n"), "\n\n", chance),
        "our code": "\n".join(own)[:400_000],
        "Python's code": "\n".join(python),
        "base64": base64.b64encode(chance.randbytes(LEAST_BYTES)).decode(),
        "base64 in lines": base64.encodebytes(chance.randbytes(LEAST_BYTES)).decode(),
    }


def mixed(parts: list[str], between: str, chance: random.Random) -> str:
    """The parts again and again, in another order each time."""
    made: list[str] = []
    while sum(len(part.encode()) for part in made) < LEAST_BYTES:
        made += chance.sample(parts, len(parts))
    return between.join(made)


def translations() -> Iterator[tuple[str, str]]:
    """Qt's own strings in each language that there are enough of."""
    folder = Path(PySide6.__file__).parent / "Qt" / "translations"
    for path in sorted(folder.glob("qtbase_*.qm")):
        text = "\n".join(strings(path.read_bytes()))
        if len(text.encode()) >= LEAST_BYTES:
            yield path.stem.removeprefix("qtbase_"), text


def strings(catalogue: bytes) -> Iterator[str]:
    """The translations in a Qt catalogue: after 16 bytes, sections of a tag, a length and a body."""
    messages, translation, ends, short = 0x69, 3, 1, 5
    at = 16
    while at + 5 <= len(catalogue):
        tag, length = struct.unpack_from(">BI", catalogue, at)
        at += 5
        place, end = at, at + length
        at = end
        while tag == messages and place < end:
            kind = catalogue[place]
            place += 1
            if kind == ends:
                continue
            size = 4 if kind == short else struct.unpack_from(">I", catalogue, place)[0]
            place += 0 if kind == short else 4
            if size == 0xFFFFFFFF:
                continue
            if kind == translation:
                yield catalogue[place : place + size].decode("utf-16-be", "replace")
            place += size


def tokenizers_of_litellm() -> dict[str, Count]:
    """What counts the tokens of a text, by tokenizer. litellm itself is not imported."""
    litellm = importlib.util.find_spec("litellm")
    if litellm is None or litellm.origin is None:
        raise SystemExit("litellm is not installed")
    folder = Path(litellm.origin).parent / "litellm_core_utils" / "tokenizers"
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    found = {family: openai(family) for family in FAMILIES}
    return found | {name: huggingface(folder / f"{name}_tokenizer.json") for name in ("anthropic", "deepseek")}


def openai(family: str) -> Count:
    encoding = tiktoken.get_encoding(f"{family}_base")
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def huggingface(file: Path) -> Count:
    tokenizer = tokenizers.Tokenizer.from_file(str(file))
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def ratios(text: str, counts: dict[str, Count]) -> tuple[list[float], float, float]:
    """The estimate by the count: for the families; for none, by the dearest and by the cheapest."""
    charged = {name: count(text) for name, count in counts.items()}
    known = [estimate_text(text, family) / charged[family] for family in FAMILIES]
    unknown = estimate_text(text)
    return known, unknown / max(charged.values()), unknown / min(charged.values())


def told(name: str, text: str, counts: dict[str, Count], *, is_rare: bool = False) -> bool:
    """Print a line of the table; whether its limits hold."""
    known, lowest, highest = ratios(text, counts)
    holds = lowest >= 1.0 and min(known) >= (RARE_LIMIT if is_rare else 1.0)
    holds &= is_rare or (max(known) <= KNOWN_LIMIT and highest <= UNKNOWN_LIMIT)
    columns = "".join(f"{ratio:9.2f}" for ratio in known)
    size = len(text.encode()) // 1_000
    print(f"{name:<16}{size:5} KB{columns}{lowest:11.2f} to {highest:4.2f}  {'HOLDS' if holds else 'BROKEN'}")
    return holds


def speed(text: str, rounds: int) -> float:
    """MB a second of CPU, the median of the rounds, each over 2 MB."""
    size = len(text.encode())
    repeats = max(1, 2_000_000 // size)
    spent: list[float] = []
    for _ in range(rounds):
        began = time.process_time()
        for _ in range(repeats):
            estimate_text(text, "o200k")
        spent.append(time.process_time() - began)
    return size * repeats / 1e6 / statistics.median(spent)


def main() -> int:
    """Measure and tell; the exit code."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=5)
    arguments = options.parse_args()
    counts = tokenizers_of_litellm()
    samples = texts(random.Random(20_261_201))
    print(f"{'':24}{''.join(f'{family:>9}' for family in FAMILIES)}        unknown")
    holds = True
    for name, text in samples.items():
        holds &= told(name, text, counts)
    print("Qt's strings")
    for name, text in translations():
        holds &= told(name, text, counts, is_rare=True)
    for name in ("English", "German", "Chinese", "base64"):
        reached = speed(samples[name], arguments.rounds)
        holds &= reached >= SPEED_LIMIT
        print(f"{name:<16}{reached:6.0f} MB/s  {'HOLDS' if reached >= SPEED_LIMIT else 'BROKEN'}")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
