"""How a WebSocket ends, on a virtual clock, with a client in memory."""

from collections import Counter

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from pgs.http.transport.accepted_socket import AcceptedSocket
from pgs.http.transport.sockets import TELL_S, OpenSockets
from tests.http.socket_peer import Peer, conversing, idles, limited, reads

# How long the end of a socket may take


async def test_queued_messages_are_sent_for_a_limited_time_before_the_close(
    autojump_clock: MockClock,
) -> None:
    async def leaves(socket: AcceptedSocket) -> None:
        socket.send("one")
        socket.send("two")

    async with conversing(leaves, limits=limited(flush_s=2)) as peer:
        pass
    assert (peer.texts, peer.code(), peer.ended_at) == (["one", "two"], 1000, 0)

    async def stuck(socket: AcceptedSocket) -> None:
        peer.reads = trio.Event()
        socket.send("one")
        await wait_all_tasks_blocked()
        socket.close(4401)
        await trio.sleep_forever()

    peer = Peer()
    async with conversing(stuck, peer=peer, limits=limited(flush_s=2)):
        await trio.sleep(10)
        peer.reads.set()
    assert (peer.texts, peer.code(), peer.ended_at) == ([], 4401, 10)


async def test_a_handler_has_a_limited_time_to_take_what_a_client_sent_before_it_left(
    autojump_clock: MockClock,
) -> None:
    heard: list[str] = []

    async def slow(socket: AcceptedSocket) -> None:
        while True:
            heard.append(await socket.receive())
            await trio.sleep(0.4)

    async with conversing(slow, limits=limited(drain_s=1)) as peer:
        await peer.say("a", "b", "c", "d", "e")
        await peer.leave()
        await peer.ended.wait()
    assert heard == ["a", "b", "c"]
    assert (peer.ended_at, peer.code()) == (1, None)


async def test_a_handler_that_waits_for_its_client_is_ended_at_once(
    autojump_clock: MockClock,
) -> None:
    async with conversing(reads) as peer:
        await trio.sleep(5)
        await peer.leave()
    assert (peer.ended_at, peer.code()) == (5, None)


async def test_a_client_that_leaves_during_a_close_ends_it(autojump_clock: MockClock) -> None:
    async def leaves(socket: AcceptedSocket) -> None:
        peer.reads = trio.Event()
        socket.send("never read")
        socket.close(4401)

    peer = Peer()
    async with conversing(leaves, peer=peer):
        await trio.sleep(1)
        await peer.leave()
    assert (peer.ended_at, peer.code()) == (1, None)


async def test_messages_that_arrive_during_a_close_change_nothing(
    autojump_clock: MockClock,
) -> None:
    async def leaves(socket: AcceptedSocket) -> None:
        peer.reads = trio.Event()
        socket.send("late")
        socket.close(4401)

    events: Counter[str] = Counter()
    peer = Peer()
    async with conversing(
        leaves, peer=peer, sockets=OpenSockets(lambda name: events.update([name]))
    ):
        await peer.say("x" * 20_000, *["x"] * 200)
        peer.reads.set()
    assert (peer.texts, peer.code(), events) == (["late"], 4401, {})


async def test_a_session_whose_handler_failed_sends_nothing_more(autojump_clock: MockClock) -> None:
    lent: list[AcceptedSocket] = []

    async def fails(socket: AcceptedSocket) -> None:
        lent.append(socket)
        raise ValueError

    with pytest.raises(ExceptionGroup) as raised:
        async with conversing(fails):
            pass
    assert raised.group_contains(ValueError)
    assert not lent[0].send("x")
    lent[0].close(4401)


async def test_a_client_that_leaves_before_the_accept_is_never_served(
    autojump_clock: MockClock,
) -> None:
    peer = Peer()
    await peer.leave()
    async with conversing(reads, peer=peer):
        pass
    assert peer.received == []


async def test_a_stop_waits_for_sockets_to_be_told_but_not_for_those_that_do_not_read(
    autojump_clock: MockClock,
) -> None:
    sockets = OpenSockets()
    async with conversing(idles, sockets=sockets) as early:
        await early.leave()
    async with (
        conversing(idles, sockets=sockets) as lively,
        conversing(idles, sockets=sockets) as stuck,
    ):
        stuck.reads = trio.Event()
        assert sockets.count == 2
        began = trio.current_time()
        await sockets.close_all()
        assert trio.current_time() - began == TELL_S
        assert (lively.code(), stuck.code(), sockets.count) == (1001, None, 1)
        stuck.reads.set()
    assert stuck.code() == 1001
    began = trio.current_time()
    await sockets.close_all()
    assert trio.current_time() == began


async def test_sockets_are_told_of_a_stop_even_by_a_caller_that_is_cancelled(
    autojump_clock: MockClock,
) -> None:
    sockets = OpenSockets()
    async with conversing(idles, sockets=sockets) as peer:
        with trio.CancelScope() as scope:
            scope.cancel()
            await sockets.close_all(1001)
        assert scope.cancelled_caught
    assert peer.code() == 1001
    async with conversing(idles, sockets=sockets) as late:
        pass
    assert late.code() == 1001
