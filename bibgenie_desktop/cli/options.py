"""The command line's options and commands (interface.md)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from .. import __version__
from ..protocol.commands import ExportFormat

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
    node: str = ""
    format: str = "md"
    output: str | None = None
    whole: bool = False
    checkpoints: bool = False
    text: str = ""
    file: str = ""
    yes: bool = False
    focus: str = ""
    rebuild: bool = False
    without_model: bool = False


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
    retry = command("retry", "Answer the last question of a chat anew.")
    retry.add_argument("session", metavar="ID")
    go_on = command("continue", "Go on with the last answer of a chat, which was interrupted or stopped.")
    go_on.add_argument("session", metavar="ID")
    edit = command("edit", "Ask a question of a chat in another way.")
    edit.add_argument("session", metavar="ID")
    edit.add_argument("--node", metavar="NODE", required=True, help="the question, by its id")
    edit.add_argument("question", help="the question as it is asked now")
    fork = command("fork", "Begin a new chat at an answer.")
    fork.add_argument("session", metavar="ID")
    fork.add_argument("--at", metavar="NODE", dest="node", required=True, help="the answer, by its id")
    switch = command("switch", "Show another branch of a chat.")
    switch.add_argument("session", metavar="ID")
    switch.add_argument("--to", metavar="NODE", dest="node", required=True, help="a message of that branch, by its id")
    branches = command("branches", "Print all messages of a chat as a tree, with their ids.")
    branches.add_argument("session", metavar="ID")
    command("sessions", "List the chats.")
    project = command("project", "Print what the model would be sent next in a chat.")
    project.add_argument("session", metavar="ID")
    compact = command("compact", "Compact the earlier context of a chat.")
    compact.add_argument("session", metavar="ID")
    compact.add_argument("--focus", metavar="TEXT", default="", help="what matters most in the summary")
    compact.add_argument("--rebuild", action="store_true", help="write it from the stored messages")
    compact.add_argument("--without-model", action="store_true", help="put it together without a model")
    search = command("search", "Search what was written in all chats, on every branch.")
    search.add_argument("text", help='words that must all occur; "in quotes" as they stand')
    import_ = command("import", "Take a chat from a JSON file that was exported.")
    import_.add_argument("file", metavar="FILE")
    export = command("export", "Write a chat as Markdown, JSON or HTML.", json=False)
    export.add_argument("session", metavar="ID")
    export.add_argument("--format", choices=get_args(ExportFormat), default="md")
    export.add_argument("--output", metavar="FILE", help="write here instead of stdout")
    export.add_argument("--whole", action="store_true", help="with every branch, not the active one alone")
    export.add_argument("--checkpoints", action="store_true", help="show what stands for compacted messages")
    delete = command("delete", "Delete a chat for good, also from the disk and from backups.")
    delete.add_argument("session", metavar="ID")
    delete.add_argument("--yes", action="store_true", help="do not ask")
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
