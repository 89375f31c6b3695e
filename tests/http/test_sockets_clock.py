"""The exact bounds of a WebSocket, on a virtual clock, with a client in memory."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import msgspec
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from pgs.http.transport.accepted_socket import OVERLOADED, AcceptedSocket, SocketLimits
from pgs.http.transport.asgi import Message
from pgs.http.transport.sockets import TELL_S, OpenSockets, serve_socket

ABUSE = 4400
LIMITS = SocketLimits(abuse_code=ABUSE)


def limited(**bounds: float) -> SocketLimits:
    """Return the usual limits with these bounds changed."""
    return msgspec.structs.replace(LIMITS, **bounds)


class Peer:
    """A client. It sends the messages put into `outgoing`, and collects those that it receives.

    While `reads` is not set it reads nothing.
    """

    def __init__(self) -> None:
        self.outgoing, self.heard_of = trio.open_memory_channel[Message](10)
        self.received: list[Message] = []
        self.reads = trio.Event()
        self.reads.set()
        self.ended = trio.Event()
        self.ended_at = 0.0

    async def say(self, *texts: str) -> None:
        with trio.fail_after(100):
            for text in texts:
                await self.outgoing.send({"type": "websocket.receive", "text": text, "bytes": None})

    async def leave(self) -> None:
        await self.outgoing.send({"type": "websocket.disconnect", "code": 1006})

    async def send(self, message: Message) -> None:
        await self.reads.wait()
        self.received.append(message)

    def code(self) -> int | None:
        """The code with which the socket was closed."""
        codes: list[int] = [
            message["code"] for message in self.received if message["type"] == "websocket.close"
        ]
        assert len(codes) < 2
        return codes[0] if codes else None

    @property
    def texts(self) -> list[str]:
        return [message["text"] for message in self.received if message["type"] == "websocket.send"]


@asynccontextmanager
async def conversing(
    handler: Callable[[AcceptedSocket], Awaitable[None]],
    *,
    peer: Peer | None = None,
    sockets: OpenSockets | None = None,
    limits: SocketLimits = LIMITS,
) -> AsyncIterator[Peer]:
    """Run `handler` on a socket for a block, and yield its peer.

    The handler must end soon after the block.
    """
    peer = peer or Peer()

    async def serve() -> None:
        await serve_socket(
            {"type": "websocket", "subprotocols": []},
            peer.heard_of.receive,
            peer.send,
            subprotocol=None,
            handler=handler,
            limits=limits,
            sockets=OpenSockets() if sockets is None else sockets,
        )
        peer.ended_at = trio.current_time()
        peer.ended.set()

    async with trio.open_nursery() as nursery:
        await peer.outgoing.send({"type": "websocket.connect"})
        nursery.start_soon(serve)
        await wait_all_tasks_blocked()
        yield peer
        with trio.fail_after(60):
            await peer.ended.wait()


async def reads(socket: AcceptedSocket) -> None:
    while True:
        await socket.receive()


async def idles(socket: AcceptedSocket) -> None:
    await trio.sleep_forever()


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


# Time limits for an end


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
