"""A node among several opens only what it owns, and gives it up whole."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
import trio
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed, Interrupted, NotOwned
from pgs.actors.maintenance.deadlines import ring_alarms
from pgs.actors.messages.seats import CloseSeats, Seated, StakeSeat
from pgs.actors.partners import PartnerDirectory
from pgs.actors.shard_holdings import Holdings
from pgs.actors.shared.presence import PlayerSocket
from pgs.app import MAKERS
from pgs.domain.seats import SeatRequest
from pgs.domain.shards import shard_of
from pgs.storage import seats as rows
from tests.actors.ready_core import FLOOR, GAME, ReadyCore, ready_core

ACME = shard_of("acme")


class Node(msgspec.Struct):
    """A node's directory and holdings over a ready core; `shards` are those that it owns."""

    s: ReadyCore
    shards: set[int]
    directory: PartnerDirectory
    holdings: Holdings

    def give(self) -> None:
        """Stop answering for the shard of `acme`, as the keeper does before it releases it."""
        self.shards.discard(ACME)

    async def stake(self, player: str) -> object:
        """Return the reply to a stake, or the error that it ended with."""
        command = StakeSeat(SeatRequest(player, GAME, "bronze", FLOOR, player, None))
        try:
            return await self.directory.partner("acme").seats("test").ask(command)
        except (NotOwned, Crashed) as error:
            return error


@asynccontextmanager
async def a_node(folder: Path) -> AsyncIterator[Node]:
    """Run a node that owns the shard of `acme` for a block."""
    async with ready_core(folder) as s:
        shards = {ACME}
        directory = PartnerDirectory(
            s.parts, MAKERS, s.core.directory.admission, shards.__contains__
        )
        yield Node(s, shards, directory, Holdings(s.parts, directory))


class Wire:
    """Stands for a connection; notes the codes that it was closed with."""

    def __init__(self) -> None:
        self.codes: list[int] = []

    def send(self, text: str) -> bool:
        return True

    def close(self, code: int) -> None:
        self.codes.append(code)


async def test_a_partner_is_opened_only_by_its_owner_and_the_catalogue_by_that_of_shard_0(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with a_node(tmp_path) as node:
        assert node.directory.owned("acme") is node.directory.partner("acme")
        node.give()
        assert node.directory.owned("acme") is None
        assert node.directory.is_open("acme")  # until it is released
        await node.holdings.release(ACME)
        assert not node.directory.is_open("acme")
        with pytest.raises(NotOwned):
            node.directory.partner("acme")
        with pytest.raises(NotOwned):
            node.directory.catalogue()
        node.shards.add(0)
        node.directory.catalogue()


async def test_a_release_carries_out_what_was_begun_and_refuses_the_rest(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with a_node(tmp_path) as node:
        replies: dict[str, object] = {}

        async def take(player: str) -> None:
            replies[player] = await node.stake(player)

        async with trio.open_nursery() as nursery:
            for number in range(20):
                nursery.start_soon(take, f"p{number}")
            await trio.testing.wait_all_tasks_blocked()
            partner = node.directory.partner("acme")
            for number in range(20, 40):
                nursery.start_soon(take, f"p{number}")
            nursery.start_soon(node.holdings.release, ACME)
            node.give()
        refused = {player for player, reply in replies.items() if isinstance(reply, NotOwned)}
        assert refused
        assert not any(isinstance(reply, Crashed) for reply in replies.values())
        for player in replies.keys() - refused:
            reply = replies[player]
            assert isinstance(reply, Seated)
            assert await rows.find_seat(node.s.reader, "acme", reply.seat.seat_id) is not None
        # Who still has the old partner is refused, and no message is lost without a word.
        with pytest.raises(NotOwned):
            await partner.seats("test").ask(CloseSeats((), "account_inactive"))


class Stuck:
    """Stands for a writer that answers nobody until it is let go."""

    def __init__(self, node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
        self.writing, self.cancelled = trio.Event(), trio.Event()
        self._patch = monkeypatch.context()
        self._patch.__enter__().setattr(node.s.parts.database.writer, "submit", self._submit)

    async def _submit(self, _: object) -> None:
        self.writing.set()
        try:
            await trio.sleep_forever()
        finally:
            self.cancelled.set()

    def let_go(self) -> None:
        self._patch.__exit__(None, None, None)


async def test_a_drop_leaves_the_message_that_was_begun_unknown_and_refuses_the_rest(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_node(tmp_path) as node:
        replies: dict[str, object] = {}

        async def take(player: str) -> None:
            replies[player] = await node.stake(player)

        stuck = Stuck(node, monkeypatch)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(take, "ann")
            await stuck.writing.wait()
            nursery.start_soon(take, "bob")
            await trio.testing.wait_all_tasks_blocked()
            node.holdings.drop()
        assert {player: type(reply) for player, reply in replies.items()} == {
            "ann": Interrupted,
            "bob": NotOwned,
        }
        stuck.let_go()
        assert not node.directory.is_open("acme")
        assert isinstance(await node.stake("ann"), Seated)  # opened anew


async def test_a_drop_also_ends_what_a_release_lets_finish(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its transaction was decided under the lost session, and must not reach the next one."""
    async with a_node(tmp_path) as node:
        replies: list[object] = []

        async def take() -> None:
            replies.append(await node.stake("ann"))

        stuck = Stuck(node, monkeypatch)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(take)
            await stuck.writing.wait()
            node.give()
            nursery.start_soon(node.holdings.release, ACME)
            await trio.testing.wait_all_tasks_blocked()
            assert not stuck.cancelled.is_set()
            began = trio.current_time()
            node.holdings.drop()
            await stuck.cancelled.wait()
            assert trio.current_time() == began
        assert [type(reply) for reply in replies] == [Interrupted]
        stuck.let_go()


async def test_child_tasks_end_with_their_partner(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with a_node(tmp_path) as node:
        ended = trio.Event()

        async def child() -> None:
            try:
                await trio.sleep_forever()
            finally:
                ended.set()

        partner = node.directory.partner("acme")
        partner.spawn(child)
        await trio.testing.wait_all_tasks_blocked()
        node.give()
        await node.holdings.release(ACME)
        with trio.fail_after(1):
            await ended.wait()
        partner.spawn(node.s.parts.deadlines.wait)  # starts nothing any more
        assert partner.given_up


async def test_a_release_closes_sockets_and_forgets_what_the_registers_say_of_the_partner_alone(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with a_node(tmp_path) as node:
        parts, wires = node.s.parts, {"acme": Wire(), "bravo": Wire()}
        assert shard_of("bravo") != ACME
        for name, wire in wires.items():
            parts.presence.enter(PlayerSocket((name, "test", "ann"), 0, None, wire))
            parts.alarms.set((name, "m_1"), trio.current_time() + 60)
            parts.feed_rows.note((name, "test"), 0, 1)
            parts.feed_rows.keep((name, "test"), {1: "row"})
            parts.key_uses.note(name, "key", 5)
            parts.settlements.asks.note(name, "seat", "declined", "no", 1)
            assert parts.settlements.asks.begin(name, "other")
        node.give()
        await node.holdings.release(ACME)
        assert (wires["acme"].codes, wires["bravo"].codes) == ([1001], [])
        assert parts.presence.find(("acme", "test", "ann")) is None
        assert parts.presence.find(("bravo", "test", "ann")) is not None
        assert len(parts.alarms) == 1
        assert parts.feed_rows.find(("acme", "test"), [1]) is None
        assert parts.feed_rows.find(("bravo", "test"), [1]) == ["row"]
        assert not parts.feed_rows.note(("acme", "test"), 0, 1), "no row counts as read before"
        assert parts.feed_rows.note(("bravo", "test"), 0, 1)
        assert parts.settlements.asks.find("acme", "seat").said is None
        assert parts.settlements.asks.find("bravo", "seat").said == "declined"
        assert parts.settlements.asks.begin("acme", "other")
        assert not parts.settlements.asks.begin("bravo", "other")
        assert await parts.key_uses.of("acme", ("key",)) == {"key": 5}  # from its row


async def test_an_alarm_stays_while_the_node_may_not_answer_and_goes_with_the_partner(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with a_node(tmp_path) as node:
        alarms = node.s.parts.alarms
        node.directory.partner("acme")
        alarms.set(("acme", "m_1"), trio.current_time() - 1)
        node.give()
        await ring_alarms(node.s.parts, node.directory)
        assert len(alarms) == 1
        node.holdings.drop()
        alarms.set(("acme", "m_1"), trio.current_time() - 1)  # as an ending table does
        await ring_alarms(node.s.parts, node.directory)
        assert len(alarms) == 0
