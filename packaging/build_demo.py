"""Build the demo library: `python packaging/build_demo.py [--output DIR]`.

From the text sources in resources/demo/sources it makes library.json and storage/<KEY>/<file>, the same bytes on each
run: there is no clock in it, no random source without a seed, and no font of this machine.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from pathlib import Path

from demo_build.book import ESSAY, MANUAL, Design, compose
from demo_build.epub import sections_of, write_epub
from demo_build.pdf import write_pdf
from demo_build.records import library_json
from demo_build.scan import write_scan
from demo_build.source import BadSource, read_source

DEMO = Path(__file__).resolve().parent.parent / "resources" / "demo"
DATE = "D:20261130000000Z"


def build(sources: Path, output: Path) -> None:
    """Write the library that `sources` describes into `output`. Raises BadSource."""

    def book(name: str, design: Design) -> bytes:
        source = read_source(sources / name)
        return write_pdf(source, design, compose(source, design), DATE)

    handbook = read_source(sources / "handbook.md")
    pdfs = {
        "PDFCITE2": book("citing-by-page.md", MANUAL),
        "PDFTRIA2": book("three-hundred-papers.md", ESSAY),
        "SCANLET2": write_scan(read_source(sources / "letter-1911.md"), DATE),
    }
    files = {**pdfs, "EPUBHAN2": write_epub(handbook)}
    table = tomllib.loads((sources / "library.toml").read_text(encoding="utf-8"))
    library = library_json(table, pdfs, {"EPUBHAN2": sections_of(handbook)})
    for attachment in table["attachments"]:
        folder = output / "storage" / attachment["key"]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / attachment["filename"]).write_bytes(files[attachment["key"]])
    (output / "library.json").write_text(library, encoding="utf-8", newline="\n")


def main() -> int:
    """Build into resources/demo, or where --output says."""
    parser = argparse.ArgumentParser(description="Build the demo library from its text sources.")
    parser.add_argument("--output", type=Path, default=DEMO, help="folder for library.json and storage/")
    arguments = parser.parse_args()
    try:
        build(DEMO / "sources", arguments.output)
    except BadSource as problem:
        print(f"The demo library was not built: {problem}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
