"""A child process spoken with in JSON lines; real children, each a few lines of Python."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest

from bibgenie_desktop.transport.child import ERROR_TAIL, ChildProcess

pytestmark = pytest.mark.req("Z-5")

ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
FOR_EVER = "import time\nprint('{}', flush=True)\nwhile True: time.sleep(60)"


async def python(source: str, *, line_limit: int = 2**16) -> ChildProcess:
    return await ChildProcess.start([sys.executable, "-c", source], line_limit=line_limit)


async def test_messages_go_there_and_back_whole_and_in_order() -> None:
    child = await python(ECHO)
    messages = [{"text": "Ökologie 図 \ud83d\n\u2028" * size, "number": size} for size in (0, 1, 100)]
    for message in messages:
        await child.send(message)
    assert [await child.receive() for _ in messages] == messages
    assert child.alive
    await child.close()
    assert (child.returncode, child.alive, child.ending) == (0, False, "exit code 0")


async def test_a_child_that_ends_is_told_by_none_again_and_again() -> None:
    child = await python("import sys; print('{\"last\": 1}'); print('{\"cut', end=''); sys.exit('a reason')")
    assert await child.receive() == {"last": 1}
    assert await child.receive() is None
    assert await child.receive() is None
    await child.send({"too": "late"})
    await child.close()
    assert child.ending == "exit code 1; a reason"


@pytest.mark.parametrize(
    ("line", "reason"),
    [("no JSON", "no JSON"), ("[1]", "no JSON object"), ("x" * 3000, "too long"), ("\\xff", "no JSON")],
)
async def test_a_child_that_does_not_keep_to_the_protocol_is_killed(line: str, reason: str) -> None:
    source = f"import sys, time\nsys.stdout.buffer.write(b'{line}\\n')\nsys.stdout.flush()\ntime.sleep(600)"
    child = await python(source, line_limit=1000)
    assert await child.receive() is None
    assert not child.alive
    assert await child.receive() is None
    await child.close(grace=60)
    assert reason in child.ending


async def test_killing_ends_a_child_at_once_and_may_be_repeated() -> None:
    child = await python(FOR_EVER)
    assert await child.receive() == {}
    child.kill()
    assert await child.receive() is None
    await child.close(grace=60)
    child.kill()
    assert child.returncode not in (None, 0)


async def test_closing_asks_first_and_kills_a_child_that_does_not_listen() -> None:
    child = await python(FOR_EVER)
    assert await child.receive() == {}
    await child.close(grace=0.05)
    assert child.returncode not in (None, 0)


async def test_closing_does_not_wait_for_what_was_never_read() -> None:
    """The child writes far more than pipes hold; it can end only when someone reads it."""
    child = await python("for _ in range(40000): print('{\"text\": \"' + 'x' * 100 + '\"}')")
    assert await child.receive() is not None
    await child.close(grace=60)
    assert child.returncode == 0


async def test_closing_while_another_waits_for_a_message_ends_both() -> None:
    child = await python(FOR_EVER)
    assert await child.receive() == {}
    waiting = asyncio.create_task(child.receive())
    await asyncio.sleep(0)
    await asyncio.gather(child.close(grace=0.05), child.close(grace=0.05))
    assert await waiting is None


async def test_closing_goes_on_when_its_caller_is_cancelled() -> None:
    child = await python(FOR_EVER)
    assert await child.receive() == {}
    child.kill()
    closing = asyncio.create_task(child.close(grace=60))
    await asyncio.sleep(0)
    closing.cancel()
    await asyncio.gather(closing, return_exceptions=True)
    await child.close()
    assert child.returncode is not None


async def test_a_cancelled_wait_loses_no_message() -> None:
    child = await python(ECHO)
    for number in range(20):
        waiting = asyncio.create_task(child.receive())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await child.send({"number": number})
        assert await child.receive() == {"number": number}
    await child.close()


async def test_of_what_a_child_says_on_stderr_the_end_is_kept() -> None:
    child = await python("import sys; sys.stderr.write('x' * 100000 + 'the last words')")
    await child.close(grace=60)
    assert len(child.error_tail) == ERROR_TAIL
    assert child.error_tail.endswith("the last words")


async def test_the_environment_is_ours_or_the_one_that_is_given() -> None:
    source = "import os, json; print(json.dumps({'word': os.environ.get('A_WORD', '')}))"
    given = await ChildProcess.start([sys.executable, "-c", source], environment={**os.environ, "A_WORD": "given"})
    ours = await ChildProcess.start([sys.executable, "-c", source])
    assert await given.receive() == {"word": "given"}
    assert await ours.receive() == {"word": ""}
    await given.close()
    await ours.close()


async def test_a_program_that_does_not_exist_is_an_error_of_the_start() -> None:
    with pytest.raises(OSError, match="no-such-program"):
        await ChildProcess.start(["/nowhere/no-such-program"])
