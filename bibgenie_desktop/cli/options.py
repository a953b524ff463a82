"""The command line's options and commands (interface.md)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from .. import __version__

LOG_LEVELS = ("debug", "info", "warning", "error")
ZOTERO_CHOICES = ("auto", "local", "web", "demo")


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked on the command line. Options that were not given are None: the settings decide then."""

    command: str
    profile: str | None = None
    zotero: str | None = None
    zotero_url: str | None = None
    model: str | None = None
    api_base: str | None = None
    context_window: int | None = None
    max_output: int | None = None
    log_level: str = "warning"
    json: bool = False
    question: str = ""
    session: str = ""
    format: str = "md"
    output: str | None = None


def parse_options(argv: Sequence[str]) -> Options:
    """Read the command line. Exits with code 2 and the usage on stderr for a wrong one."""
    parser = _parser()
    arguments = parser.parse_args(list(argv))
    values = {name: value for name, value in vars(arguments).items() if value is not None}
    values["command"] = values.get("command", "window")
    return Options(**values)


def _parser() -> argparse.ArgumentParser:
    # Given once before or once after the command: SUPPRESS keeps the command's default from undoing the first.
    common = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = common.add_argument_group("options for all commands")
    group.add_argument("--profile", metavar="DIR", help="where everything is stored")
    group.add_argument("--zotero", metavar="SOURCE", type=_zotero, help="auto, local, web, demo or sqlite:PATH")
    group.add_argument("--zotero-url", metavar="URL", type=_url, help="where Zotero's local API answers")
    group.add_argument("--model", metavar="NAME", type=_text, help="a litellm model name, or offline")
    group.add_argument("--api-base", metavar="URL", type=_url, help="address of an OpenAI-compatible server")
    group.add_argument("--context-window", metavar="N", type=_tokens, help="the model's window in tokens")
    group.add_argument("--max-output", metavar="N", type=_tokens, help="the model's longest answer in tokens")
    group.add_argument("--log-level", choices=LOG_LEVELS, help="what the log in the profile holds")
    parser = argparse.ArgumentParser(
        prog="bibgenie-desktop",
        description="Talk with a language model over your Zotero library, with page citations you can check. "
        "Without a command, the window opens.",
        parents=[common],
    )
    parser.add_argument("--version", action="version", version=f"BibGenie Desktop {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    def command(name: str, help_text: str, *, json: bool = True) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=help_text, description=help_text, parents=[common])
        if json:
            made.add_argument("--json", action="store_true", help="print JSON")
        return made

    ask = command("ask", "Ask a question and print the answer with its citations.")
    ask.add_argument("question", help="the question")
    ask.add_argument("--session", metavar="ID", default="", help="go on in this chat")
    command("sessions", "List the chats.")
    project = command("project", "Print what the model would be sent next in a chat.")
    project.add_argument("session", metavar="ID")
    export = command("export", "Write a chat as Markdown or JSON.", json=False)
    export.add_argument("session", metavar="ID")
    export.add_argument("--format", choices=("md", "json"), default="md")
    export.add_argument("--output", metavar="FILE", help="write here instead of stdout")
    command("doctor", "Check profile, library, model, keyring and files.")
    return parser


def _zotero(value: str) -> str:
    if value in ZOTERO_CHOICES or (value.startswith("sqlite:") and len(value) > len("sqlite:")):
        return value
    raise argparse.ArgumentTypeError(f"{value!r} is none of {', '.join(ZOTERO_CHOICES)} or sqlite:PATH")


def _url(value: str) -> str:
    if value.startswith(("http://", "https://")):
        return value
    raise argparse.ArgumentTypeError(f"{value!r} is no http or https address")


def _text(value: str) -> str:
    if value.strip():
        return value.strip()
    raise argparse.ArgumentTypeError("it is empty")


def _tokens(value: str) -> int:
    number = int(value) if value.isdecimal() else 0
    if number < 1024:
        raise argparse.ArgumentTypeError(f"{value!r} is no whole number of at least 1,024 tokens")
    return number
