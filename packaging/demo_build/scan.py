"""The scan: a typed letter of 1911, drawn, aged, turned a little, and kept as pictures only.

The unevenness of the typewriter and the marks on the paper come from a random generator with a fixed seed.
"""

from __future__ import annotations

import math
import random
import textwrap
from itertools import pairwise

import pymupdf

from .source import Block, Source, plain

_WIDTH, _HEIGHT = 432, 612  # the scanner's glass, in points
_PAPER = (15.0, 13.0, 402.0, 586.0)  # left, lower edge, width, height
_LEFT, _TOP = 50.0, 546.0
_SIZE, _LEADING, _COLUMNS = 10.2, 16.6, 54
_PITCH = 0.6 * _SIZE
_RESOLUTION = 288  # dots an inch, halved after drawing so that edges are soft
_QUALITY = 42


def write_scan(source: Source, date: str) -> bytes:
    """A PDF of page pictures without a text layer. `date` is in the form of PDF's dates."""
    document = pymupdf.open()
    chance = random.Random(1911)
    for blocks in _pages(source):
        picture = _photograph(_typed(blocks, chance), chance)
        sheet = document.new_page(width=_WIDTH, height=_HEIGHT)
        sheet.insert_image(sheet.rect, stream=picture)
    document.set_metadata({"title": source.head["title"], "creationDate": date, "modDate": date})
    return bytes(document.tobytes(garbage=4, deflate=True, no_new_id=True))


def _pages(source: Source) -> list[list[Block]]:
    pages: list[list[Block]] = []
    for block in source.blocks:
        if block.name == "page":
            pages.append([])
        else:
            pages[-1].append(block)
    return pages


def _typed(blocks: list[Block], chance: random.Random) -> str:
    """The operators that type a page's lines."""
    drawn: list[str] = []
    y = _TOP
    for position, block in enumerate(blocks):
        text = plain(block.spans)
        if block.name == "right":
            drawn.append(_line(text.rjust(_COLUMNS), y, chance))
            y -= _LEADING
            continue
        if block.name == "hand":
            drawn.append(_signature(_LEFT + 130, y - 18))
            y -= 54
            drawn.append(_line(" " * 22 + text, y, chance))
            continue
        y -= _LEADING * (1.0 if position and blocks[position - 1].name == "right" else 0.45)
        indent = "" if text.startswith("Dear ") else " " * 5
        for line in textwrap.wrap(text, _COLUMNS, initial_indent=indent):
            drawn.append(_line(line, y, chance))
            y -= _LEADING
    return "\n".join(drawn)


def _line(text: str, y: float, chance: random.Random) -> str:
    """One typed line. The e of this machine stands a little high, and its ribbon is worn unevenly."""
    drawn: list[str] = []
    ribbon = chance.uniform(0.14, 0.26)
    for column, character in enumerate(text):
        if character == " ":
            continue
        x = _LEFT + column * _PITCH + chance.uniform(-0.22, 0.22)
        height = y + chance.uniform(-0.28, 0.28) + (0.5 if character == "e" else 0.0)
        turn = chance.uniform(-0.012, 0.012)
        grey = min(0.5, max(0.05, ribbon + chance.gauss(0.0, 0.07)))
        code = character.encode("cp1252").hex()
        drawn.append(
            f"BT {grey:.2f} g /Typed {_SIZE} Tf 1 {turn:.4f} {-turn:.4f} 1 {x:.2f} {height:.2f} Tm <{code}> Tj ET"
        )
    return "\n".join(drawn)


def _signature(x: float, y: float) -> str:
    """A signature in ink: a line that runs in loops of changing size, and a stroke below it."""
    drawn = ["q 1 J 1 j 0.18 G"]
    points = []
    for step in range(260):
        t = step / 259
        tall = (
            9 * math.exp(-(((t - 0.04) / 0.05) ** 2)) + 8 * math.exp(-(((t - 0.52) / 0.04) ** 2)) + 3.2 * (1 - 0.5 * t)
        )
        points.append((x + 118 * t + 3.4 * math.sin(50 * t), y + tall * math.cos(50 * t + 0.4) + 4 * t))
    for number, (start, end) in enumerate(pairwise(points)):
        width = 0.8 + 0.35 * math.sin(number / 5)
        drawn.append(f"{width:.2f} w {start[0]:.2f} {start[1]:.2f} m {end[0]:.2f} {end[1]:.2f} l S")
    drawn.append(f"0.9 w 1 0 0 1 {x:.2f} {y:.2f} cm -6 -9 m 50 -4 90 -8 136 0 c S Q")
    return "\n".join(drawn)


def _photograph(typed: str, chance: random.Random) -> bytes:
    """The page on the scanner's glass, as a JPEG in shades of grey."""
    angle = math.radians(chance.uniform(0.5, 0.9) * chance.choice((-1, 1)))
    cosine, sine = math.cos(angle), math.sin(angle)
    shift = (_WIDTH / 2 * (1 - cosine) + _HEIGHT / 2 * sine, _HEIGHT / 2 * (1 - cosine) - _WIDTH / 2 * sine)
    turned = f"{cosine:.6f} {sine:.6f} {-sine:.6f} {cosine:.6f} {shift[0]:.3f} {shift[1]:.3f} cm"
    glass = f"0.34 g 0 0 {_WIDTH} {_HEIGHT} re f"
    content = "\n".join([glass, "q", turned, _paper(chance), typed, _specks(chance), "Q"])
    drawing = pymupdf.open()
    sheet = drawing.new_page(width=_WIDTH, height=_HEIGHT)
    font = sheet.insert_font(fontname="cour")
    resources = f"<</Font<</Typed {font} 0 R>>/ExtGState<</Thin<</ca 0.006/CA 0.008>>/Full<</ca 1/CA 1>>>>>>"
    drawing.xref_set_key(sheet.xref, "Resources", resources)
    stream = drawing.get_new_xref()
    drawing.update_object(stream, "<<>>")
    drawing.update_stream(stream, content.encode("ascii"))
    sheet.set_contents(stream)
    picture = sheet.get_pixmap(dpi=_RESOLUTION, colorspace=pymupdf.csGRAY, alpha=False)
    picture.shrink(1)
    return bytes(picture.tobytes("jpeg", jpg_quality=_QUALITY))


def _paper(chance: random.Random) -> str:
    """The sheet: darker towards its edges, with damp, and folded twice."""
    x, y, width, height = _PAPER
    drawn = [f"0.91 g {x} {y} {width} {height} re f q {x} {y} {width} {height} re W n /Thin gs 0 g 0 G"]
    drawn.extend(f"{0.6 + 0.11 * ring * ring:.2f} w {x} {y} {width} {height} re S" for ring in range(28))
    for _ in range(4):
        middle = (x + chance.uniform(0, width), y + chance.uniform(0, height))
        radius = chance.uniform(30, 90)
        drawn.extend(_disc(*middle, radius * (1 - 0.08 * step)) for step in range(9))
    drawn.append("/Full gs Q")
    for third in (1, 2):
        fold = y + third * height / 3 + chance.uniform(-4, 4)
        drawn.append(f"0.9 w 0.94 G {x} {fold:.2f} m {x + width} {fold + 1:.2f} l S")
        drawn.append(f"0.6 w 0.83 G {x} {fold - 0.9:.2f} m {x + width} {fold + 0.1:.2f} l S")
    return "\n".join(drawn)


def _specks(chance: random.Random) -> str:
    """Dust and foxing, over the writing."""
    x, y, width, height = _PAPER
    drawn: list[str] = []
    for _ in range(150):
        drawn.append(f"{chance.uniform(0.45, 0.8):.2f} g")
        drawn.append(_disc(x + chance.uniform(0, width), y + chance.uniform(0, height), chance.uniform(0.15, 0.6)))
    return "\n".join(drawn)


def _disc(x: float, y: float, radius: float) -> str:
    k = 0.5523 * radius
    r = radius
    return (
        f"{x + r:.2f} {y:.2f} m {x + r:.2f} {y + k:.2f} {x + k:.2f} {y + r:.2f} {x:.2f} {y + r:.2f} c "
        f"{x - k:.2f} {y + r:.2f} {x - r:.2f} {y + k:.2f} {x - r:.2f} {y:.2f} c "
        f"{x - r:.2f} {y - k:.2f} {x - k:.2f} {y - r:.2f} {x:.2f} {y - r:.2f} c "
        f"{x + k:.2f} {y - r:.2f} {x + r:.2f} {y - k:.2f} {x + r:.2f} {y:.2f} c f"
    )
