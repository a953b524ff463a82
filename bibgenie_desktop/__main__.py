"""Entry of every process of ours: the command line and the window, the engine, the document workers."""

from __future__ import annotations

import sys

_ROLE = "--bibgenie-role="


def main() -> int:
    """Run the role this process was started in; without one, the command line."""
    arguments = sys.argv[1:]
    role = arguments[0].removeprefix(_ROLE) if arguments and arguments[0].startswith(_ROLE) else ""
    if role == "documents":
        from .documents.worker import main as read_documents

        read_documents()
        return 0
    if role == "engine":
        from .cli.engine_process import main as serve

        return serve(arguments[1:])
    try:
        from .cli.main import main as command_line

        return command_line(arguments)
    except KeyboardInterrupt:  # before a command runs, while its parts are loaded: that takes half a second
        print("Stopped.", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
