"""The client for trio does what the client for threads does."""

import gc
import inspect
import json
from contextlib import suppress
from pathlib import Path

import httpcore
import httpx
import pytest
import trio
import trio.testing

from clients.python.tests.scripted import BASE, KEY, PURCHASE, SEAT, Script, page, refusal, row
from pgs_client import Client, NoAnswer, Retries, SqliteStore
from pgs_client.errors import InvalidKey
from pgs_client.trio_client import TrioClient
from tests.stalled import StalledNetwork, StalledStream


def test_both_clients_have_the_same_methods_and_parameters() -> None:
    def surface(kind: type) -> dict[str, list[str]]:
        return {
            name: list(inspect.signature(value).parameters)
            for name, value in vars(kind).items()
            if inspect.isfunction(value) and not name.startswith("_")
        }

    assert surface(Client) == surface(TrioClient)


async def test_a_seat_is_repeated_with_the_same_key(
    autojump_clock: trio.testing.MockClock,
) -> None:
    script = Script(httpx.ReadTimeout("x"), (503, refusal("settlement_unavailable")), (200, SEAT))
    async with script.trio_client() as client:
        assert (await client.seat(**PURCHASE)).seat_id == "sea_1"
        assert repr(client) == f"TrioClient({BASE!r}, environment='test')"
    assert [script.sent(number) for number in (1, 2)] == [script.sent()] * 2
    assert 0.75 <= trio.current_time() <= 1.5


async def test_the_feed_is_followed_into_a_store(tmp_path: Path) -> None:
    script = Script((200, page(cursor="c0", more=True)), (200, page(row())), (200, page(row())))
    store = SqliteStore(tmp_path / "feed.db")
    async with script.trio_client() as client:
        async for rows in client.follow(store):
            assert store.rows() == list(rows)
            break
        assert await client.catch_up(store) == 1
    store.close()


async def test_pages_are_read_to_the_last() -> None:
    invoice = {
        "invoiceId": "inv_1",
        "environment": "test",
        "status": "open",
        "periodFrom": "20260101",
        "periodTo": "20260131",
    }
    script = Script(
        (200, {"invoices": [invoice], "nextCursor": "c1", "hasMore": True}),
        (200, {"invoices": [invoice], "nextCursor": None, "hasMore": False}),
        (200, {"lines": [], "nextCursor": None, "hasMore": False}),
        (200, {"matches": [], "nextCursor": None, "hasMore": False}),
        (200, invoice),
    )
    async with script.trio_client() as client:
        assert [each.invoice_id async for each in client.invoices()] == ["inv_1", "inv_1"]
        assert [each async for each in client.invoice_lines("inv_1")] == []
        assert [each async for each in client.line_matches("inv_1", "lin_1")] == []
        assert (await client.invoice("inv_1")).number is None


async def test_every_other_call_is_sent() -> None:
    script = Script(*[(401, refusal("invalid_key"))] * 15)
    client = script.trio_client()
    for call in (
        client.me,
        client.theme,
        lambda: client.write_theme({}),
        lambda: client.tiers("g"),
        lambda: client.readiness("g"),
        lambda: client.mint(game_id="g", player_id="p"),
        lambda: client.read_seat("s"),
        lambda: client.cancel("s"),
        lambda: client.match("m"),
        lambda: client.decide("m", "p"),
        lambda: client.call_off("m"),
        client.results,
        lambda: client.usage("20260101", "20260101"),
        lambda: client.seat_summary("20260101", "20260101"),
        lambda: client.digest("20260101", "20260101"),
    ):
        with pytest.raises(InvalidKey):
            await call()
    assert client.environment == "test"
    await client.close()


@pytest.mark.filterwarnings("error")
async def test_a_call_cancelled_while_it_sends_its_body_leaves_no_generator_behind() -> None:
    at_body = trio.Event()
    transport = httpx.AsyncHTTPTransport()
    transport._pool = httpcore.AsyncConnectionPool(
        network_backend=StalledNetwork(StalledStream(at_body))
    )
    async with TrioClient("http://127.0.0.1", KEY, transport=transport) as client:
        async with trio.open_nursery() as nursery:

            async def seat() -> None:
                await client.seat(**PURCHASE)

            nursery.start_soon(seat)
            await at_body.wait()
            nursery.cancel_scope.cancel()
        gc.collect()


async def test_an_answer_that_comes_twice_is_given_to_one_call_only() -> None:
    """The second copy waits on the connection, which is closed when the copy is found."""
    connections = 0

    async def serve(stream: trio.SocketStream) -> None:
        nonlocal connections
        connections += 1
        number = 0
        with suppress(trio.BrokenResourceError):  # the client leaves without reading everything
            while await stream.receive_some():
                number += 1
                body = json.dumps({**SEAT, "status": f"{connections}.{number}"}).encode()
                head = f"HTTP/1.1 200 OK\r\nX-Request-Id: req_{connections}_{number}\r\n"
                answer = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
                await stream.send_all(answer * 2)

    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        base_url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        retries = Retries(first_pause_s=0)
        async with TrioClient(base_url, KEY, retries=retries) as client:
            assert [(await client.read_seat("sea_1")).status for _ in range(2)] == ["1.1", "2.1"]
        with Client(base_url, KEY, retries=retries) as threaded:
            read = [
                (await trio.to_thread.run_sync(threaded.read_seat, "sea_1")).status
                for _ in range(2)
            ]
        assert read == ["3.1", "4.1"]
        nursery.cancel_scope.cancel()


async def test_a_machine_that_does_not_answer_is_reported() -> None:
    listener = (await trio.open_tcp_listeners(0, host="127.0.0.1"))[0]
    port = listener.socket.getsockname()[1]
    await listener.aclose()
    async with TrioClient(f"http://127.0.0.1:{port}", KEY, retries=Retries(tries=1)) as client:
        with pytest.raises(NoAnswer):
            await client.seat(**PURCHASE)
