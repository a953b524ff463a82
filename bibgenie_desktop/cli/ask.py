"""`ask`: one question, its answer streamed to stdout, the same engine as the window's."""

from __future__ import annotations

from ..engine.engine import Engine
from ..engine.refused import checked_question
from ..protocol.commands import SendMessage
from .options import Options
from .streaming import stream_answer
from .wiring import Setting


async def ask(options: Options, setting: Setting) -> int:
    """Answer the question; 0 only if an answer was stored."""

    async def asked(engine: Engine) -> SendMessage:
        question = checked_question(options.question)
        session_id = await engine.find_session(options.session) if options.session else ""
        return SendMessage(question, session_id, is_draft=False)

    return await stream_answer(options, setting, asked)
