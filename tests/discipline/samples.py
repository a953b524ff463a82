"""Runs small test modules under the discipline, in a process of their own, and tells how they ended."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from xml.etree import ElementTree

CHECKOUT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Run:
    """How a run of pytest ended: its exit status, what it printed, and the complaints by test (empty: it passed)."""

    status: int
    output: str
    complaints: dict[str, str]


def run_samples(folder: Path, source: str, *options: str, **environment: str) -> Run:
    """Runs a test module, given as text, with the settings of this checkout."""
    module, report = folder / "test_samples.py", folder / "report.xml"
    module.write_text(dedent(source), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-c", str(CHECKOUT / "pyproject.toml"), f"--rootdir={folder}"]
    command += ["-p", "tests.discipline", f"--junitxml={report}", *options, str(module)]
    ended = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    complaints: dict[str, str] = {}
    if report.exists():
        for case in ElementTree.parse(report).iter("testcase"):
            faults = [fault for kind in ("failure", "error") for fault in case.iter(kind)]
            text = "\n".join(f"{fault.get('message')}\n{fault.text}" for fault in faults)
            complaints[case.get("name", "")] = complaints.get(case.get("name", ""), "") + text
    return Run(ended.returncode, ended.stdout, complaints)
