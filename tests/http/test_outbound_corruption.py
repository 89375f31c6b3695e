"""Whatever bytes an endpoint sends, a try ends with an outcome and does not raise."""

from contextlib import suppress
from random import Random

import pytest
import trio.testing

from pgs.domain.nudges import RESPONSE_TEXT_MAX
from pgs.http.outbound.errors import CLOSED, NO_ANSWER, NOT_HTTP, TOO_LONG
from tests.http.internet import (
    BODY,
    URL,
    answer_to,
    answering,
    keeping_none,
    open_internet,
)

ERRORS = {CLOSED, NO_ANSWER, NOT_HTTP, TOO_LONG}

PIECES = [
    b"HTTP/1.1 ",
    b"HTTP/1.0 200 OK\r\n",
    b"200 OK\r\n",
    b"100 Continue\r\n\r\n",
    b"204\r\n",
    b"Content-Length: ",
    b"Content-Length: 5\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Connection: keep-alive\r\n",
    b"\r\n",
    b"\n",
    b"\r",
    b"\r\n\r\n",
    b"5\r\nhello\r\n",
    b"0\r\n\r\n",
    b"0",
    b" ",
    b"\t",
    b":",
    b";",
    b"\x00",
    b"\xff\xfe",
    b"f" * 25,
    b"9" * 30,
    b"x" * 300,
]


@pytest.mark.exhaustive
async def test_no_corrupted_response_makes_a_try_raise(
    autojump_clock: trio.testing.MockClock,
) -> None:
    random = Random(7)
    statuses = 0
    async with open_internet() as internet:
        for _ in range(600):
            garble = [random.choice(PIECES) for _ in range(random.randint(1, 12))]
            if random.random() < 0.7:
                garble.insert(0, b"HTTP/1.1 200 OK\r\n")
            outcome = await answer_to(internet, *garble)
            assert (outcome.status is None) is (outcome.error in ERRORS)
            assert len(outcome.response_body) <= RESPONSE_TEXT_MAX
            statuses += outcome.status is not None
    assert 50 < statuses < 550


class _Corrupting(trio.abc.Stream):
    """A stream that flips one bit of what is sent to the client."""

    def __init__(self, stream: trio.abc.Stream, place: int) -> None:
        self._stream = stream
        self._place = place

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        return await self._stream.receive_some(max_bytes)

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        sent = bytearray(data)
        if 0 <= self._place < len(sent):
            sent[self._place] ^= 1
        self._place -= len(sent)
        await self._stream.send_all(sent)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        await self._stream.aclose()


async def test_no_corruption_below_http_makes_a_try_raise(
    autojump_clock: trio.testing.MockClock,
) -> None:
    random = Random(11)
    statuses: list[int | None] = []
    async with open_internet() as internet:
        serve = internet.serve
        internet.handler = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

        async def corrupt(stream: trio.abc.Stream) -> None:
            await serve(_Corrupting(stream, random.randint(0, 2_000)))

        async def babble(stream: trio.abc.Stream) -> None:
            with suppress(trio.BrokenResourceError):
                await stream.send_all(random.randbytes(random.randint(0, 300)))
            await trio.aclose_forcefully(stream)

        for number in range(120):
            broken = corrupt if number % 3 else babble
            internet.serve = broken  # type: ignore[method-assign]  # replaced for this test
            statuses.append((await keeping_none().post(URL, BODY, {})).status)
            assert internet.open_sockets == 0
    assert set(statuses) == {None, 200}
