"""The engine's side of its pipe: one JSON object a line, in order, and an event loop that never waits (U-4)."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pytest

from bibgenie_desktop.transport.served import MESSAGE_LIMIT, MessageTooLarge, ServedPipe

CHECKOUT = Path(__file__).parents[2]


@dataclass(slots=True)
class Other:
    """The other side: writes what the pipe receives, and reads what it sends."""

    pipe: ServedPipe
    to_pipe: BinaryIO
    from_pipe: BinaryIO

    async def read(self, count: int = -1) -> bytes:
        return await asyncio.to_thread(self.from_pipe.read, count)


@asynccontextmanager
async def connected() -> AsyncIterator[Other]:
    incoming, to_pipe = os.pipe()
    from_pipe, outgoing = os.pipe()
    with os.fdopen(to_pipe, "wb", buffering=0) as write, os.fdopen(from_pipe, "rb") as read:
        pipe = ServedPipe(os.fdopen(incoming, "rb"), os.fdopen(outgoing, "wb"))
        try:
            yield Other(pipe, write, read)
        finally:
            # What the pipe still has to say must find a reader, and its reader an end of the input.
            write.close()
            closing = asyncio.create_task(asyncio.to_thread(pipe.close))
            if not read.closed:
                await asyncio.to_thread(read.read)
            await closing


@pytest.mark.req("U-4")
async def test_messages_are_lines_in_their_order() -> None:
    async with connected() as other:
        other.to_pipe.write(b'{"type": "One"}\n{"type":"Two","text":"\xc3\xa9\\n"}\n')
        assert [await other.pipe.receive() for _ in range(2)] == [{"type": "One"}, {"type": "Two", "text": "é\n"}]
        for number in range(100):
            other.pipe.send({"type": "Three", "number": number, "text": "line\nend\u2028é"})
        lines = [await asyncio.to_thread(other.from_pipe.readline) for _ in range(100)]
    assert [json.loads(line)["number"] for line in lines] == list(range(100))
    assert lines[0] == '{"type":"Three","number":0,"text":"line\\nend\u2028é"}\n'.encode()


@pytest.mark.req("U-4")
async def test_a_message_that_comes_in_pieces_is_whole() -> None:
    async with connected() as other:
        receiving = asyncio.create_task(other.pipe.receive())
        for byte in '{"type":"Ö"}\n'.encode():
            other.to_pipe.write(bytes([byte]))
        assert await receiving == {"type": "Ö"}


@pytest.mark.req("U-4", "A-5")
async def test_a_line_that_is_no_json_is_refused_and_the_next_is_read() -> None:
    async with connected() as other:
        other.to_pipe.write(b'no json\n\n\xff\xfe\n[1]\n{"type": "One"}\n')
        for _ in range(3):
            with pytest.raises(ValueError, match="Expecting value"):
                await other.pipe.receive()
        assert [await other.pipe.receive() for _ in range(2)] == [[1], {"type": "One"}]


@pytest.mark.req("U-4", "T-6")
async def test_the_end_of_the_input_is_told_after_all_that_came_before() -> None:
    async with connected() as other:
        other.to_pipe.write(b'{"type": "One"}\n{"type": "Two"}')
        other.to_pipe.close()
        assert [await other.pipe.receive() for _ in range(3)] == [{"type": "One"}, {"type": "Two"}, None]


@pytest.mark.req("U-4")
async def test_a_message_too_large_is_refused_and_the_pipe_goes_on() -> None:
    async with connected() as other:
        room = MESSAGE_LIMIT - len(b'{"type":"X","text":""}\n')
        with pytest.raises(MessageTooLarge, match="X of 65537 bytes"):
            other.pipe.send({"type": "X", "text": "x" * (room + 1)})
        with pytest.raises(MessageTooLarge):
            other.pipe.send({"type": "X", "text": "é" * (room // 2 + 1)})
        other.pipe.send({"type": "X", "text": "x" * room})
        line = await asyncio.to_thread(other.from_pipe.readline)
    assert len(line) == MESSAGE_LIMIT


@pytest.mark.req("U-4")
async def test_half_a_character_is_sent_as_a_mark() -> None:
    async with connected() as other:
        other.pipe.send({"type": "X", "text": "a\ud800b"})
        assert json.loads(await asyncio.to_thread(other.from_pipe.readline))["text"] == "a?b"


@pytest.mark.req("U-4")
async def test_a_slow_reader_does_not_hold_up_the_loop() -> None:
    """Ten megabytes are sent before the other side reads a byte: far more than a pipe holds."""
    message = {"type": "X", "text": "x" * 50_000}
    async with connected() as other:
        for _ in range(200):
            other.pipe.send(message)
        other.to_pipe.write(b'{"type": "One"}\n')
        assert await other.pipe.receive() == {"type": "One"}
        size = len(json.dumps(message, separators=(",", ":")).encode()) + 1
        assert len(await other.read(200 * size)) == 200 * size


@pytest.mark.req("U-4", "T-6")
async def test_a_closed_pipe_has_sent_what_was_waiting() -> None:
    async with connected() as other:
        for number in range(50):
            other.pipe.send({"type": "X", "number": number})
        await asyncio.to_thread(other.pipe.close)
        lines = (await other.read()).splitlines()
    assert [json.loads(line)["number"] for line in lines] == list(range(50))


@pytest.mark.req("U-4", "T-6")
async def test_a_reader_that_is_gone_harms_nothing() -> None:
    async with connected() as other:
        other.from_pipe.close()
        for _ in range(50):
            other.pipe.send({"type": "X", "text": "x" * 50_000})
        await asyncio.to_thread(other.pipe.close)
        other.to_pipe.write(b'{"type": "One"}\n')
        assert await other.pipe.receive() == {"type": "One"}


STRAY = """
import asyncio
from bibgenie_desktop.transport.served import ServedPipe

async def main():
    pipe = ServedPipe.on_standard_streams()
    print("stray")
    pipe.send({"type": "One"})
    assert await pipe.receive() == {"type": "End"}
    pipe.close()

asyncio.run(main())
"""


@pytest.mark.req("U-4", "T-6")
def test_a_process_ends_well_while_its_input_is_open_and_stray_output_goes_to_stderr() -> None:
    """Its reader stands in a read that never ends."""
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", STRAY], stdin=pipe, stdout=pipe, stderr=pipe, env=environment
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdin.write(b'{"type": "End"}\n')
        child.stdin.flush()
        assert child.stdout.read() == b'{"type":"One"}\n'
        assert child.stderr.read() == b"stray\n"
        assert child.wait() == 0
