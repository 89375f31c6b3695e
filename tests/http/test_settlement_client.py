"""The calls to the settlement server: what is sent, which answers count, and how long they take."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.ports import UndefinedAnswer
from pgs.actors.seating.settlement_call import ANSWER_S, SLOT_WAIT_S
from pgs.app import open_core
from pgs.config import BadSettings, Config
from pgs.domain.payouts import Payout
from pgs.http.outbound.errors import NOT_CONNECTED
from pgs.http.outbound.fetch import BODY_TOO_LONG, NO_ANSWER, JsonClient
from pgs.http.outbound.settlement_client import ANSWER_BYTES, CALL_S, RemoteSettlement, read_token
from tests.http.internet import client_context, read_request
from tests.making import seat

TOKEN = "s3cret-token"
PAYOUT = Payout("acme", "test", "sea_001", "p1", "refund", 100)


def sized(body: bytes, status: bytes = b"200 OK", extra: bytes = b"") -> bytes:
    return b"HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s" % (status, extra, len(body), body)


@asynccontextmanager
async def server(*parts: bytes, hold: bool = False) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Run a server that answers each request with the parts; yield its address and requests."""
    async with serving([], *parts, hold=hold) as served:
        yield served


@asynccontextmanager
async def serving(
    statuses: list[bytes], *parts: bytes, hold: bool = False
) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Run a server that gives these answers one after the other, and then the parts."""
    requests: list[bytes] = []
    left = list(statuses)

    async def serve(stream: trio.SocketStream) -> None:
        requests.append(await read_request(stream))
        try:
            for part in [sized(b'{"status":"%s"}' % left.pop(0))] if left else parts:
                await stream.send_all(part)
            if hold:
                await trio.sleep_forever()
        except trio.BrokenResourceError:
            pass
        await stream.aclose()

    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        yield f"http://127.0.0.1:{listener.socket.getsockname()[1]}", requests
        nursery.cancel_scope.cancel()


def port(url: str) -> RemoteSettlement:
    return RemoteSettlement(JsonClient(client_context()), url, TOKEN)


async def test_a_charge_is_posted_with_its_seat_as_the_key() -> None:
    async with server(sized(b'{"status":"confirmed"}')) as (url, requests):
        assert await port(f"{url}/settle/").charge(seat(1)) == "confirmed"
    head, _, body = requests[0].decode().partition("\r\n\r\n")
    lines = head.split("\r\n")
    assert lines[0] == "POST /settle/charges HTTP/1.1"
    assert {f"Authorization: Bearer {TOKEN}", "Idempotency-Key: sea_001"} <= set(lines)
    assert json.loads(body) == {
        "seatId": "sea_001",
        "partnerId": "acme",
        "environment": "test",
        "playerId": "p1",
        "amountUsdCents": 100,
    }


async def test_a_payout_is_posted_with_its_match_and_seat_as_the_key() -> None:
    async with server(sized(b'{"status":"pending","more":1}')) as (url, requests):
        assert await port(url).pay("mat_1", PAYOUT) == "pending"
    head, _, body = requests[0].decode().partition("\r\n\r\n")
    assert head.startswith("POST /payouts HTTP/1.1\r\n")
    assert "Idempotency-Key: mat_1:sea_001" in head.split("\r\n")
    assert json.loads(body) == {
        "matchId": "mat_1",
        "seatId": "sea_001",
        "partnerId": "acme",
        "environment": "test",
        "playerId": "p1",
        "amountUsdCents": 100,
        "kind": "refund",
    }


async def test_what_is_pending_is_looked_up_and_posted_again_only_without_an_answer() -> None:
    answers = [b"pending", b"pending", b"lost", b"pending", b"confirmed", b"confirmed"]
    async with serving(answers) as (url, requests):
        settlement = port(url)
        for expected in answers:
            if expected == b"lost":
                with pytest.raises(UndefinedAnswer):
                    await settlement.charge(seat(1))
            else:
                assert await settlement.charge(seat(1)) == expected.decode()
    assert [request.split(b" HTTP")[0] for request in requests] == [
        b"POST /charges",
        b"GET /charges/sea_001",
        b"GET /charges/sea_001",
        b"POST /charges",
        b"GET /charges/sea_001",
        b"POST /charges",
    ]
    assert all(b"Authorization: Bearer" in request for request in requests)


async def test_a_pending_payout_is_looked_up_by_match_and_seat() -> None:
    async with serving([b"pending", b"declined"]) as (url, requests):
        settlement = port(url)
        assert await settlement.pay("mat_1", PAYOUT) == "pending"
        assert await settlement.pay("mat_1", PAYOUT) == "declined"
    assert requests[1].startswith(b"GET /payouts/mat_1:sea_001 HTTP")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (sized(b'{"status":"confirmed"}', b"500 Oops"), "the response has status 500"),
        (sized(b'{"status":"confirmed"}', b"201 Created"), "the response has status 201"),
        (
            sized(b"", b"302 Found", b"Location: http://127.0.0.1:1/\r\n"),
            "the response has status 302",
        ),
        (sized(b'{"status":"CONFIRMED"}'), "no status that the interface defines"),
        (sized(b'{"status":["confirmed"]}'), "no status that the interface defines"),
        (sized(b'{"state":"confirmed"}'), "no status that the interface defines"),
        (sized(b'{"status":"confirmed","status":"declined"}'), "not a JSON object"),
        (sized(b'"confirmed"'), "not a JSON object"),
        (sized(b"<html>" + TOKEN.encode()), "not a JSON object"),
        (sized(b'{"status":"confirmed"}' + b" " * ANSWER_BYTES), BODY_TOO_LONG),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{}", "."),
        (b"", "the connection closed before a response"),
        (b"garbage\r\n\r\n", "not valid HTTP"),
    ],
)
async def test_anything_but_a_200_with_a_known_status_is_no_published_answer(
    answer: bytes, why: str
) -> None:
    async with server(answer) as (url, _):
        with pytest.raises(UndefinedAnswer, match=why) as raised:
            await port(url).charge(seat(1))
    assert TOKEN not in str(raised.value)


async def test_bytes_after_an_answer_change_nothing() -> None:
    twice = sized(b'{"status":"confirmed"}') + sized(b'{"status":"declined"}')
    async with server(twice) as (url, _):
        assert await port(url).charge(seat(1)) == "confirmed"


async def test_a_server_that_is_down_is_no_published_answer() -> None:
    with pytest.raises(UndefinedAnswer, match=NOT_CONNECTED):
        await port("http://127.0.0.1:1").charge(seat(1))


async def test_a_server_that_hangs_is_given_up_in_time(autojump_clock: MockClock) -> None:
    async with server(b"HTTP/1.1 200 OK\r\n", hold=True) as (url, _):
        began = trio.current_time()
        with pytest.raises(UndefinedAnswer, match=NO_ANSWER):
            await port(url).charge(seat(1))
        assert trio.current_time() - began == pytest.approx(CALL_S)


def test_nothing_that_can_be_printed_shows_the_token() -> None:
    made = port("http://127.0.0.1:1")
    assert TOKEN not in repr(made)
    assert TOKEN not in str(made)


# --- the token's file ---------------------------------------------------------------------------


def test_white_space_around_the_token_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"\n {TOKEN}\r\n")
    assert read_token(tmp_path / "token") == TOKEN


@pytest.mark.parametrize(
    "content", [b"", b" \n", b"two words", b"two\nlines", b"\xc3\xa4", b"x" * 5000, b"a\0b"]
)
def test_a_file_that_holds_no_token_is_refused_and_not_quoted(
    content: bytes, tmp_path: Path
) -> None:
    (tmp_path / "token").write_bytes(content)
    with pytest.raises(
        BadSettings, match=r"PGS_SETTLEMENT_TOKEN_FILE: .*token must hold"
    ) as raised:
        read_token(tmp_path / "token")
    assert "words" not in str(raised.value)


async def test_a_token_file_that_cannot_be_read_ends_the_start_before_the_folder_is_made(
    tmp_path: Path,
) -> None:
    config = Config(
        data_dir=tmp_path / "data",
        settlement_url="http://127.0.0.1:1",
        settlement_token_file=tmp_path / "nowhere",
    )
    with pytest.raises(BadSettings, match=r"nowhere cannot be read \(No such file"):
        async with open_core(config, inline=True):
            pass
    assert not (tmp_path / "data").exists()


def test_a_call_that_had_to_wait_for_a_slot_still_has_its_whole_time() -> None:
    assert SLOT_WAIT_S + CALL_S <= ANSWER_S
