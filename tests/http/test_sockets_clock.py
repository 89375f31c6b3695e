"""The exact bounds of a WebSocket, on a virtual clock, with a client in memory."""

from collections import Counter

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from pgs.http.transport.accepted_socket import OVERLOADED, AcceptedSocket
from pgs.http.transport.sockets import OpenSockets
from tests.http.socket_peer import ABUSE, conversing, idles, limited, reads

# Message rate


async def test_the_21st_message_within_a_second_is_abuse_and_one_a_second_later_is_not(
    autojump_clock: MockClock,
) -> None:
    async with conversing(reads) as peer:
        for _ in range(3):
            await peer.say(*["x"] * 20)
            await trio.sleep(1)
        await peer.say(*["x"] * 20)
        await trio.sleep(0.999)
        await wait_all_tasks_blocked()
        assert peer.code() is None
        await peer.say("one too many")
        await wait_all_tasks_blocked()
        assert peer.code() == ABUSE


async def test_the_rate_is_counted_over_a_sliding_second(autojump_clock: MockClock) -> None:
    async with conversing(reads, limits=limited(messages_per_second=16)) as peer:
        for _ in range(80):  # Five seconds in equal steps, which a float represents exactly.
            await peer.say("x")
            await trio.sleep(1 / 16)
        assert peer.code() is None
        await peer.say("x", "one too many")
        await wait_all_tasks_blocked()
        assert peer.code() == ABUSE


async def test_each_half_of_a_burst_leaves_the_window_at_its_own_time(
    autojump_clock: MockClock,
) -> None:
    async with conversing(reads) as peer:
        await peer.say(*["x"] * 10)
        await trio.sleep(0.5)
        await peer.say(*["x"] * 10)
        await trio.sleep(0.5)
        await peer.say(*["x"] * 10)
        await wait_all_tasks_blocked()
        assert peer.code() is None
        await peer.say("x")
        await wait_all_tasks_blocked()
        assert peer.code() == ABUSE


async def test_after_abuse_nothing_more_is_read(autojump_clock: MockClock) -> None:
    heard: list[str] = []

    async def keeps(socket: AcceptedSocket) -> None:
        while True:
            heard.append(await socket.receive())

    async with conversing(keeps) as peer:
        peer.reads = trio.Event()
        await peer.say("a")
        await peer.outgoing.send({"type": "websocket.receive", "text": None, "bytes": b"binary"})
        await wait_all_tasks_blocked()
        with pytest.raises(trio.TooSlowError):
            await peer.say(*["flood"] * 100)
        peer.reads.set()
    assert heard == ["a"]
    assert peer.code() == ABUSE


# Queue sizes


@pytest.mark.parametrize(
    ("limits", "texts", "fits"),
    [
        ({"inbox_messages": 5}, ["x"] * 6, 5),
        ({"inbox_chars": 10}, ["x" * 5] * 3, 2),
        ({"inbox_chars": 10}, ["x" * 11], 0),
    ],
)
async def test_messages_that_a_handler_has_not_taken_are_bounded(
    autojump_clock: MockClock, limits: dict[str, int], texts: list[str], fits: int
) -> None:
    events: Counter[str] = Counter()
    sockets = OpenSockets(lambda name: events.update([name]))
    async with conversing(idles, sockets=sockets, limits=limited(**limits)) as peer:
        await peer.say(*texts[:fits])
        await wait_all_tasks_blocked()
        assert peer.code() is None
        await peer.say(*texts[fits:])
        await wait_all_tasks_blocked()
        assert peer.code() == OVERLOADED
    assert events == {"socket_overloaded": 1}


async def test_messages_that_a_handler_takes_make_room_for_more(autojump_clock: MockClock) -> None:
    async with conversing(reads, limits=limited(inbox_messages=1, inbox_chars=5)) as peer:
        for _ in range(10):
            await peer.say("12345")
            await wait_all_tasks_blocked()
        assert peer.code() is None
        await peer.leave()


@pytest.mark.parametrize(
    ("limits", "fits"),
    [({"outbox_messages": 5}, 6), ({"outbox_chars": 500}, 5), ({"outbox_chars": 99}, 0)],
)
async def test_messages_that_a_client_has_not_taken_are_bounded(
    autojump_clock: MockClock, limits: dict[str, int], fits: int
) -> None:
    lent: list[AcceptedSocket] = []

    async def lends(socket: AcceptedSocket) -> None:
        lent.append(socket)
        await trio.sleep_forever()

    async with conversing(lends, limits=limited(**limits)) as peer:
        [socket] = lent
        sent = 0
        # The loop has no checkpoint, so the writer takes nothing meanwhile.
        while socket.send("x" * 100):
            sent += 1
        assert sent == fits
        assert not socket.send("x")
        await wait_all_tasks_blocked()
    assert (peer.texts, peer.code()) == ([], OVERLOADED)


async def test_messages_that_a_client_takes_make_room_for_more(autojump_clock: MockClock) -> None:
    async def steady(socket: AcceptedSocket) -> None:
        for _ in range(50):
            assert socket.send("12345")
            await wait_all_tasks_blocked()

    async with conversing(steady, limits=limited(outbox_messages=1, outbox_chars=5)) as peer:
        pass
    assert (peer.texts, peer.code()) == (["12345"] * 50, 1000)
