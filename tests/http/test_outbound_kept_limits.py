"""How many connections to endpoints are kept, and for how long."""

import pytest
import trio
import trio.testing

from pgs.actors.maintenance.chores import CLOSE_CONNECTIONS_S
from pgs.domain.nudges import TryOutcome
from pgs.http.outbound import kept_connections
from pgs.http.outbound.kept_connections import AGE_S, IDLE_S, KEPT_EACH
from pgs.http.outbound.tries import Outbound
from tests.http.internet import (
    BODY,
    HOST,
    OK,
    Internet,
    Tls,
    client_context,
    keeping,
    open_internet,
    read_request,
    server_context,
    try_once,
)


async def test_an_idle_connection_is_closed_and_never_used_after_its_time(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.handler = keeping()
        outbound = Outbound(client_context())
        await try_once(outbound)
        await trio.sleep(IDLE_S - 0.1)
        outbound.close_idle()
        await try_once(outbound)  # so it is idle only from now on
        await trio.sleep(IDLE_S - 0.1)
        outbound.close_idle()
        assert (len(internet.connects), internet.open_sockets) == (1, 1)
        await trio.sleep(0.1)
        await try_once(outbound)
        assert (len(internet.connects), internet.open_sockets) == (2, 1)
        await trio.sleep(IDLE_S)
        outbound.close_idle()
        assert internet.open_sockets == 0


async def test_the_certificate_is_checked_again_after_some_minutes(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.handler = keeping()
        outbound, began = Outbound(client_context()), trio.current_time()
        while trio.current_time() < began + AGE_S:
            assert len(internet.connects) <= 1
            await try_once(outbound)
            await trio.sleep(1)
        await try_once(outbound)
        assert (len(internet.connects), internet.open_sockets) == (2, 1)


async def test_as_many_connections_are_kept_as_an_endpoint_gets_nudges_at_once(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.handler = keeping()
        internet.connect_takes = 0.1
        outbound = Outbound(client_context())
        for connects in (KEPT_EACH + 2, KEPT_EACH + 4):
            async with trio.open_nursery() as nursery:
                for _ in range(KEPT_EACH + 2):
                    nursery.start_soon(try_once, outbound)
            assert (len(internet.connects), internet.open_sockets) == (connects, KEPT_EACH)


async def test_if_all_places_are_taken_the_connection_that_was_idle_for_longest_is_closed(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_connections, "KEPT_MAX", 2)
    async with open_internet() as internet:
        internet.handler = keeping()
        outbound = Outbound(client_context())
        for port in (8001, 8002, 8003, 8003, 8002, 8001):
            await trio.sleep(0.1)
            assert (await try_once(outbound, f"https://{HOST}:{port}/")).status == 200
        assert [port for _, port in internet.connects] == [8001, 8002, 8003, 8001]
        assert internet.open_sockets == 2


@pytest.mark.parametrize("further", [0, 5], ids=["two nudges", "more and more nudges"])
async def test_a_server_that_serves_one_connection_at_a_time_still_gets_all_nudges(
    autojump_clock: trio.testing.MockClock, further: int
) -> None:
    one = trio.Lock()
    outcomes: list[TryOutcome] = []

    async def slow(stream: Tls) -> None:
        while await read_request(stream):
            await trio.sleep(0.6)
            await stream.send_all(OK)

    async with open_internet() as internet:
        internet.handler, serve = slow, internet.serve

        async def serve_one(stream: trio.abc.Stream) -> None:
            async with one:
                await serve(stream)

        internet.serve = serve_one  # type: ignore[method-assign]  # replaced for this test
        outbound = Outbound(client_context())

        async def try_after(pause: float) -> None:
            await trio.sleep(pause)
            outcomes.append(await try_once(outbound))

        async def close_idle() -> None:
            while True:
                await trio.sleep(CLOSE_CONNECTIONS_S)
                outbound.close_idle()

        internet.nursery.start_soon(close_idle)
        async with trio.open_nursery() as nursery:
            for pause in (0, 0.01, *(0.5 + number * 0.7 for number in range(further))):
                nursery.start_soon(try_after, pause)
    assert [outcome.status for outcome in outcomes] == [200] * (2 + further)


async def test_hosts_and_ports_have_connections_of_their_own(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.handler = keeping()
        internet.context = server_context("*.example.com")
        outbound = Outbound(client_context())
        urls = [f"https://{HOST}/", f"https://{HOST}:8443/", "https://other.example.com/"]
        for url in [*urls, *urls]:
            assert (await try_once(outbound, url)).status == 200
        assert len(internet.connects) == len(urls)


async def _leave_open(internet: Internet, outbound: Outbound) -> None:
    internet.handler = keeping()
    await try_once(outbound)
    assert internet.open_sockets == 1


async def test_a_stop_closes_idle_connections_and_those_in_use_after_their_tries(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async def slow(stream: Tls) -> None:
        await read_request(stream)
        await trio.sleep(1)
        await stream.send_all(OK)
        await trio.sleep_forever()

    async with open_internet() as internet:
        outbound = Outbound(client_context())
        await _leave_open(internet, outbound)
        internet.handler = slow
        outcomes: list[TryOutcome] = []

        async def try_elsewhere() -> None:
            outcomes.append(await try_once(outbound, f"https://{HOST}:8443/"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(try_elsewhere)
            await trio.sleep(0.5)
            assert internet.open_sockets == 2
            outbound.close()
            assert internet.open_sockets == 1
        assert (outcomes[0].status, internet.open_sockets) == (200, 0)


async def test_a_cancelled_try_closes_its_connection(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        outbound = Outbound(client_context())
        await _leave_open(internet, outbound)
        internet.lookup_takes = 0.5
        with trio.move_on_after(0.1):  # in the look-up: the kept connection is not touched
            await try_once(outbound)
        assert internet.open_sockets == 1
        internet.lookup_takes = 0

        async def hang(stream: Tls) -> None:
            await trio.sleep_forever()

        internet.handler = hang
        with trio.move_on_after(0.5):
            await outbound.post(f"https://{HOST}:8443/", BODY, {})
        assert internet.open_sockets == 1
