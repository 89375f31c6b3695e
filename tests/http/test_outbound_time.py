"""How long a try may take, to the millisecond of a virtual clock."""

import ssl
from collections.abc import Iterator
from itertools import chain, repeat

import pytest
import trio
import trio.testing

from pgs.domain.nudges import TryOutcome
from pgs.http.outbound.errors import CONNECT_TIMEOUT, NO_ANSWER, NO_TLS, TOO_LONG
from tests.http.internet import (
    HOST,
    PUBLIC,
    URL,
    Internet,
    Tls,
    answering,
    authority,
    dripping,
    keeping_none,
    open_internet,
    read_request,
)

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"


async def _try(internet: Internet) -> TryOutcome:
    """Make a try, and check that it took the time that it reports and left no socket open."""
    began = trio.current_time()
    outcome = await keeping_none().post(URL, b"{}", {})
    assert outcome.duration_ms == round((trio.current_time() - began) * 1000)
    assert internet.open_sockets == 0
    return outcome


def _told(outcome: TryOutcome) -> tuple[int | None, str | None, int]:
    return outcome.status, outcome.error, outcome.duration_ms


async def test_a_look_up_that_hangs_ends_after_two_seconds(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.lookup_takes = 60
        assert _told(await _try(internet)) == (None, CONNECT_TIMEOUT, 2_000)
        assert internet.connects == []


async def test_a_connect_that_hangs_ends_after_two_seconds(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.hanging = {PUBLIC}
        assert _told(await _try(internet)) == (None, CONNECT_TIMEOUT, 2_000)


async def test_four_addresses_that_hang_share_the_two_seconds(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        many = [f"8.8.{number}.8" for number in range(40)]
        internet.answers, internet.hanging = [many], set(many)
        began = trio.current_time()
        assert _told(await _try(internet)) == (None, CONNECT_TIMEOUT, 2_000)
        assert [at - began for at in internet.connected_at] == pytest.approx([0, 0.5, 1, 1.5])


async def test_an_address_that_hangs_leaves_time_for_the_next(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.answers, internet.hanging = [["8.8.8.8", "1.1.1.1"]], {"8.8.8.8"}
        internet.handler = answering(HEAD)
        assert _told(await _try(internet)) == (200, None, 1_000)


async def test_a_handshake_that_hangs_ends_after_two_seconds(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        assert _told(await _try(internet)) == (None, CONNECT_TIMEOUT, 2_000)
        assert len(internet.connects) == 1


async def test_look_up_connect_and_handshake_have_two_seconds_together(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.lookup_takes, internet.connect_takes = 1.5, 0.4
        assert _told(await _try(internet)) == (None, CONNECT_TIMEOUT, 2_000)
        internet.handler = answering(HEAD)
        assert _told(await _try(internet)) == (200, None, 1_900)
        internet.connect_takes = 0.6
        assert _told(await _try(internet)) == (None, CONNECT_TIMEOUT, 2_000)


async def test_a_connection_that_ends_during_the_handshake_is_logged_as_no_response(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:

        async def serve(stream: trio.abc.Stream) -> None:
            await stream.receive_some()
            await trio.sleep(0.25)
            await stream.aclose()

        internet.serve = serve  # type: ignore[method-assign]  # replaced for this test
        assert _told(await _try(internet)) == (None, NO_TLS, 250)


async def test_a_response_may_begin_late_in_the_five_seconds(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.lookup_takes = 1.0
        internet.handler = dripping([HEAD[:10], HEAD[10:], b"late"], 1.9)
        outcome = await _try(internet)
        assert _told(outcome) == (200, None, 5_000)
        assert outcome.response_body == ""


async def test_a_try_without_response_ends_after_five_seconds_including_its_look_up(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.lookup_takes = 1.0
        internet.handler = dripping([], 1)
        assert _told(await _try(internet)) == (None, NO_ANSWER, 5_000)


async def test_an_endpoint_that_reads_nothing_after_the_handshake_ends_after_five_seconds(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.handler = dripping([], 1)
        internet.sends_until_hang = 2  # the client's two flights of TLS 1.3
        assert _told(await _try(internet)) == (None, NO_ANSWER, 5_000)


async def test_a_try_whose_head_arrives_slowly_ends_after_five_seconds(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.handler = dripping(chain([b"HTTP/1.1 200 OK\r\nX: "], repeat(b"x")), 0.1)
        assert _told(await _try(internet)) == (None, NO_ANSWER, 5_000)


async def test_a_drip_of_interim_responses_ends_after_five_seconds(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.handler = dripping(repeat(b"HTTP/1.1 100 Continue\r\n\r\n"), 0.1)
        assert _told(await _try(internet)) == (None, NO_ANSWER, 5_000)


def _endless(part: bytes) -> Iterator[bytes]:
    return repeat(part * 1_000)


@pytest.mark.parametrize(
    "start",
    [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n"],
)
async def test_a_flood_of_interim_responses_ends_at_once(
    autojump_clock: trio.testing.MockClock, start: bytes
) -> None:
    async with open_internet() as internet:
        internet.handler = answering(*[start * 10_000])
        assert _told(await _try(internet)) == (None, TOO_LONG, 0)


async def test_an_endless_head_ends_at_once(autojump_clock: trio.testing.MockClock) -> None:
    async with open_internet() as internet:

        async def handler(stream: Tls) -> None:
            await read_request(stream)
            await stream.send_all(b"HTTP/1.1 200 OK\r\n")
            for part in _endless(b"X-A: b\r\n"):
                await stream.send_all(part)

        internet.handler = handler
        assert _told(await _try(internet)) == (None, TOO_LONG, 0)


@pytest.mark.parametrize(
    ("head", "part", "kept"),
    [
        (HEAD, b"abcdefgh" * 125, "abcdefgh" * 25),
        (
            HEAD[:-2] + b"Transfer-Encoding: chunked\r\n\r\n",
            b"1;" + b"x" * 993 + b"\r\na\r\n",
            "aaaa",
        ),
    ],
    ids=["plain", "chunk extensions"],
)
async def test_only_four_kibibytes_of_an_endless_body_are_read_and_the_status_counts(
    autojump_clock: trio.testing.MockClock, head: bytes, part: bytes, kept: str
) -> None:
    async with open_internet() as internet:
        sent = 0

        async def handler(stream: Tls) -> None:
            nonlocal sent
            await read_request(stream)
            await stream.send_all(head)
            while True:
                await trio.sleep(0.001)
                await stream.send_all(part)
                sent += len(part)

        internet.handler = handler
        outcome = await _try(internet)
        assert (outcome.status, outcome.error) == (200, None)
        assert outcome.response_body == kept
        assert 4_096 <= sent <= 8_192
        assert outcome.duration_ms <= 8


async def test_a_body_that_arrives_slowly_is_read_until_the_five_seconds_end(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.handler = dripping(chain([HEAD], repeat(b"x")), 0.5)
        outcome = await _try(internet)
        assert _told(outcome) == (200, None, 5_000)
        assert outcome.response_body == "x" * 8 or outcome.response_body == "x" * 9


async def test_an_endpoint_that_never_closes_ends_with_its_body(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.handler = dripping([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"], 0.5)
        outcome = await _try(internet)
        assert _told(outcome) == (200, None, 500)
        assert outcome.response_body == "ok"


async def test_a_flood_below_http_ends_at_once(autojump_clock: trio.testing.MockClock) -> None:
    """Endless session tickets never reach the HTTP parser: only a limit below it stops them."""
    async with open_internet() as internet:
        internet.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority().issue_cert(HOST).configure_cert(internet.context)
        internet.context.num_tickets = 2_000  # 255 bytes each, sent ahead of the head
        internet.handler = answering(HEAD)
        assert _told(await _try(internet)) == (None, TOO_LONG, 0)
        internet.context.num_tickets = 20
        assert _told(await _try(internet)) == (200, None, 0)


@pytest.mark.parametrize("after", [0.5, 1.5, 2.5, 3.5])
async def test_a_cancelled_try_ends_as_cancelled_and_closes_its_connection(
    autojump_clock: trio.testing.MockClock, after: float
) -> None:
    """It is cancelled during the look-up, the connect, the handshake and the response."""
    async with open_internet() as internet:
        internet.lookup_takes, internet.connect_takes = 1.0, 0.9
        internet.handler = dripping(chain([HEAD], repeat(b"x")), 1.0)
        with trio.move_on_after(after) as scope:
            await keeping_none().post(URL, b"{}", {})
        assert scope.cancelled_caught
        assert internet.open_sockets == 0
