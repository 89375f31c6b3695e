"""Connections to endpoints are kept for the next try, and only while that is safe."""

import pytest
import trio
import trio.testing

from pgs.domain.ip_addresses import REFUSED_MESSAGE
from pgs.http.outbound.errors import CLOSED, NO_ANSWER, TOO_LONG
from pgs.http.outbound.tries import CONNECT_TIMEOUT_S, TRY_TIMEOUT_S, Outbound
from tests.http.internet import (
    HOST,
    OK,
    PUBLIC,
    Tls,
    client_context,
    keeping,
    open_internet,
    read_request,
    server_context,
    try_once,
)
from tests.loopback import LOOPBACK, LoopbackNames
from tests.patience import PATIENCE_S

OTHER = "8.8.8.8"


async def _statuses(outbound: Outbound, tries: int) -> list[int | None]:
    return [(await try_once(outbound)).status for _ in range(tries)]


async def test_tries_one_after_the_other_use_one_connection_and_a_look_up_each(
    autojump_clock: trio.testing.MockClock,
) -> None:
    requests: list[bytes] = []
    async with open_internet() as internet:
        internet.handler = keeping(requests=requests)
        assert await _statuses(Outbound(client_context()), 5) == [200] * 5
        assert (len(internet.lookups), len(internet.connects)) == (5, 1)
    assert len(requests) == 5
    assert all(b"connection:" not in request.lower() for request in requests)


async def test_each_exchange_has_the_limits_of_a_new_connection(
    autojump_clock: trio.testing.MockClock,
) -> None:
    long = b"HTTP/1.1 200 OK\r\nX-Long: %s\r\nContent-Length: 4096\r\n\r\n%s" % (
        b"h" * 20_000,
        b"b" * 4096,
    )
    async with open_internet() as internet:
        internet.handler = keeping(*[long] * 30)
        assert await _statuses(Outbound(client_context()), 30) == [200] * 30
        assert len(internet.connects) == 1


async def test_a_kept_connection_is_not_used_once_its_address_is_refused(
    autojump_clock: trio.testing.MockClock,
) -> None:
    requests: list[bytes] = []
    async with open_internet() as internet:
        internet.handler = keeping(requests=requests)
        internet.answers = [[PUBLIC], ["10.0.0.1"], [PUBLIC, "10.0.0.1"], []]
        outbound = Outbound(client_context())
        assert (await try_once(outbound)).status == 200
        for _ in range(3):
            outcome = await try_once(outbound)
            assert (outcome.status, outcome.error) == (None, REFUSED_MESSAGE)
    assert len(requests) == 1


async def test_an_endpoint_that_has_moved_gets_a_new_connection_and_the_old_one_is_closed(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.handler = keeping()
        internet.answers = [[PUBLIC], [OTHER]]
        assert await _statuses(Outbound(client_context()), 3) == [200] * 3
        assert [address for address, _ in internet.connects] == [PUBLIC, OTHER]
        assert internet.open_sockets == 1


@pytest.mark.parametrize(
    "second",
    [b"", b"HTTP", b"SSH-2.0-x\r\n\r\n"],
    ids=["closes", "breaks off", "speaks another protocol"],
)
async def test_if_a_kept_connection_fails_before_a_response_a_new_one_has_the_same_request(
    autojump_clock: trio.testing.MockClock, second: bytes
) -> None:
    requests: list[bytes] = []

    async def handler(stream: Tls) -> None:
        requests.append(await read_request(stream))
        await stream.send_all(OK)
        if len(requests) == 1:
            requests.append(await read_request(stream))
            if second:
                await stream.send_all(second)
        else:
            await trio.sleep_forever()

    async with open_internet() as internet:
        internet.handler = handler
        outcomes = [await try_once(outbound) for outbound in [Outbound(client_context())] * 2]
        assert [(outcome.status, outcome.error) for outcome in outcomes] == [(200, None)] * 2
        assert len(internet.connects) == 2
        assert internet.open_sockets == 1
    assert requests[0] == requests[1] == requests[2]


@pytest.mark.parametrize(
    "flood",
    [b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 40_000, b"HTTP/1.1 100 Continue\r\n\r\n" * 2_000],
    ids=["an endless head", "interim responses"],
)
async def test_a_flood_over_a_kept_connection_gets_no_second_request(
    autojump_clock: trio.testing.MockClock, flood: bytes
) -> None:
    requests: list[bytes] = []
    async with open_internet() as internet:
        internet.handler = keeping(OK, flood, flood, requests=requests)
        outbound = Outbound(client_context())
        assert (await try_once(outbound)).status == 200
        outcome = await try_once(outbound)
        assert (outcome.status, outcome.error) == (None, TOO_LONG)
        assert (len(requests), len(internet.connects), internet.open_sockets) == (2, 1, 0)


async def test_a_connection_that_the_endpoint_has_closed_is_not_used(
    autojump_clock: trio.testing.MockClock,
) -> None:
    requests: list[bytes] = []

    async def handler(stream: Tls) -> None:
        requests.append(await read_request(stream))
        await stream.send_all(OK)

    async with open_internet() as internet:
        internet.handler = handler
        outbound = Outbound(client_context())
        for _ in range(3):
            assert (await try_once(outbound)).status == 200
            await trio.testing.wait_all_tasks_blocked()
        assert (len(requests), len(internet.connects)) == (3, 3)


async def test_a_kept_connection_that_hangs_does_not_lengthen_thetry_once(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async def handler(stream: Tls) -> None:
        await read_request(stream)
        await stream.send_all(OK)
        await trio.sleep_forever()

    async with open_internet() as internet:
        internet.handler = handler
        outbound = Outbound(client_context())
        assert (await try_once(outbound)).status == 200
        outcome = await try_once(outbound)
        assert (outcome.status, outcome.error) == (None, NO_ANSWER)
        assert outcome.duration_ms == 1000 * TRY_TIMEOUT_S
        assert (len(internet.connects), internet.open_sockets) == (1, 0)


async def test_no_new_connection_is_made_after_the_time_for_connecting(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async def handler(stream: Tls) -> None:
        await read_request(stream)
        await stream.send_all(OK)
        await read_request(stream)
        await trio.sleep(CONNECT_TIMEOUT_S + 1)

    async with open_internet() as internet:
        internet.handler = handler
        outbound = Outbound(client_context())
        assert (await try_once(outbound)).status == 200
        outcome = await try_once(outbound)
        assert (outcome.status, outcome.error) == (None, CLOSED)
        assert (len(internet.connects), internet.open_sockets) == (1, 0)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + b"x" * 5000,
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
    ids=["says close", "HTTP/1.0", "a long body", "half a body", "a broken body"],
)
async def test_a_response_that_does_not_leave_a_clean_connection_closes_it(
    autojump_clock: trio.testing.MockClock, answer: bytes
) -> None:
    async with open_internet() as internet:
        internet.handler = keeping(answer)
        assert (await try_once(Outbound(client_context()))).status == 200
        assert internet.open_sockets == 0


MORE = b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"


@pytest.mark.parametrize(
    "answer",
    [
        OK + MORE,
        OK + MORE[:9],
        b"HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + MORE,
    ],
    ids=["a second response", "half a response", "a body that must not be", "after the chunks"],
)
async def test_a_connection_is_closed_if_more_than_the_response_came(
    autojump_clock: trio.testing.MockClock, answer: bytes
) -> None:
    async with open_internet() as internet:
        internet.handler = keeping(*[answer] * 3)
        outbound = Outbound(client_context())
        for connects in (1, 2):
            assert (await try_once(outbound)).status in (200, 204)
            assert (len(internet.connects), internet.open_sockets) == (connects, 0)


async def test_a_connection_with_unread_bytes_is_not_used() -> None:
    tried, sent = trio.Event(), trio.Event()
    connections = 0

    async def serve(stream: trio.SocketStream) -> None:
        nonlocal connections
        connections += 1
        tls = trio.SSLStream[trio.abc.Stream](stream, server_context(), server_side=True)
        await read_request(tls)
        await tls.send_all(OK)
        await tried.wait()
        await tls.send_all(MORE)
        sent.set()
        await trio.sleep_forever()

    before = trio.socket.set_custom_hostname_resolver(LoopbackNames())
    try:
        with trio.fail_after(PATIENCE_S):
            async with trio.open_nursery() as nursery:
                (listener,) = await trio.open_tcp_listeners(0, host=LOOPBACK)
                nursery.start_soon(trio.serve_listeners, serve, [listener])
                url = f"https://{HOST}:{listener.socket.getsockname()[1]}/"
                outbound = Outbound(client_context(), lambda address: address == LOOPBACK)
                assert (await try_once(outbound, url)).status == 200
                tried.set()
                await sent.wait()
                assert (await try_once(outbound, url)).status == 200
                assert connections == 2
                outbound.close()
                nursery.cancel_scope.cancel()
    finally:
        trio.socket.set_custom_hostname_resolver(before)
