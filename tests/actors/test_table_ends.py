"""Nobody hears of a match's end between the table's decision and its commit."""

from pathlib import Path
from unittest import mock

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from pgs.actors.kernel.mail import Command, Crashed, Envelope, Interrupted, Overloaded
from pgs.actors.messages import table as m
from pgs.actors.messages.seats import EndPlay
from pgs.actors.play.held import HELD_MAX
from pgs.actors.play.table import TableActor
from pgs.actors.seating.ending import end_play
from pgs.actors.seating.seats_actor import SeatsActor
from pgs.domain.socket_frames import Snapshot
from pgs.storage.moves import moves_of_match
from pgs.storage.transactions import WriterFull
from tests.actors.playing import A_WINS, Player, at_table, ends_are, match_row, never, play, seated
from tests.actors.ready_core import ReadyCore, ready_core, settle, until


async def slowly(actor: SeatsActor, message: EndPlay, envelope: Envelope) -> None:
    """A handler for `ends_are` that commits the end after three seconds."""
    await trio.sleep(3)
    await end_play(actor, message, envelope)


class Asked:
    """Asks a match's table, and keeps the answers so far in the order of the questions."""

    def __init__(self, core: ReadyCore, match_id: str, nursery: trio.Nursery) -> None:
        self._core, self._match_id, self._nursery = core, match_id, nursery
        self._asked = 0
        self._answered: dict[int, object] = {}

    def ask(self, command: Command[object]) -> None:
        self._asked += 1
        self._nursery.start_soon(self._ask, self._asked, command)

    async def _ask(self, number: int, command: Command[object]) -> None:
        try:
            self._answered[number] = await self._core.partner().table(self._match_id).ask(command)
        except (Crashed, Overloaded) as error:
            self._answered[number] = type(error)

    @property
    def answers(self) -> list[object]:
        return [self._answered[number] for number in sorted(self._answered)]


@pytest.mark.parametrize("why", ["resigned", "forfeit_timeout", "platform_void"])
async def test_commands_that_come_while_an_end_is_being_written_are_answered_after_it(
    why: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s, trio.open_nursery() as nursery:
        with ends_are(slowly), mock.patch.dict(s.parts.games, clear=why == "platform_void"):
            match_id = await seated(s, "ann", "bob")
            ann = await Player(s, "ann").enter()
            started = Asked(s, match_id, nursery)
            begun = trio.current_time()
            if why == "resigned":
                started.ask(m.Resign("bob"))
            elif why == "forfeit_timeout":
                await (await Player(s, "bob").enter()).join(match_id)
                await s.partner().table(match_id).ask(m.JoinTable("ann", None, None))
                begun += 30
            await until(begun + 1)
            asked = Asked(s, match_id, nursery)
            for command in (
                m.PlayMove("ann", 0, "a1"),
                m.Resign("ann"),
                m.JoinTable("ann", None, ann.player_socket),
            ):
                asked.ask(command)
                await settle()
            await until(begun + 2.5)
            assert (await match_row(s, match_id)).status == "started"
            assert (started.answers, asked.answers, ann.take()) == ([], [], [])
            await until(begun + 4.5)
        assert (await match_row(s, match_id)).end_reason == why
        over, again, snapshot = asked.answers
        assert over == again == m.ActionRefused("match_over")
        assert isinstance(snapshot, Snapshot)
        assert (snapshot.status, snapshot.end_reason) == (
            (await match_row(s, match_id)).status,
            why,
        )
        assert started.answers == ([m.ActionTaken()] if why == "resigned" else []), (
            "the resignation was refused"
        )
        assert ann.kinds() == ["snapshot", "ended"]


async def test_a_match_whose_last_move_is_written_is_over_at_once(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """The rows of the moves imply the end: replaying them reaches it, even after a restart."""
    async with ready_core(tmp_path) as s:
        with ends_are(never):
            match_id, ann, bob = await at_table(s)
            await play(match_id, (ann, bob), *A_WINS)
            assert await bob.move(match_id, 5, "c3") == "match_over"
            assert (await match_row(s, match_id)).status == "started"
    with ends_are(never):
        async with ready_core(tmp_path) as s:
            bob = Player(s, "bob")
            assert await bob.move(match_id, 5, "c3") == "match_over"
            assert await bob.resign(match_id) == "match_over"
            snapshot = await bob.join(match_id)
            assert isinstance(snapshot, Snapshot)
            assert (snapshot.status, snapshot.legal_moves, snapshot.ply) == ("started", (), 5)


async def test_an_end_that_a_crash_undoes_was_told_to_nobody(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with trio.open_nursery() as nursery:
        async with ready_core(tmp_path) as s:
            with ends_are(never):
                match_id, ann, bob = await at_table(s)
                asked = Asked(s, match_id, nursery)
                for command in (m.Resign("bob"), m.PlayMove("ann", 0, "a1")):
                    asked.ask(command)
                    await settle()
                assert asked.answers == []
        await settle()
        assert asked.answers == [Interrupted, Interrupted]
        assert ann.take() == bob.take() == []
    async with ready_core(tmp_path) as s:
        assert (await match_row(s, match_id)).status == "started"
        assert await (await Player(s, "ann").enter()).move(match_id, 0, "a1") is None
        assert [move.move for move in await moves_of_match(s.reader, "acme", match_id)] == ["a1"]


async def test_a_command_waits_at_most_five_seconds_for_an_end_to_be_written(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s, trio.open_nursery() as nursery:
        with ends_are(never):
            match_id, ann, _ = await at_table(s)
            resigned, moved = (Asked(s, match_id, nursery) for _ in range(2))
            resigned.ask(m.Resign("bob"))
            await until(2)
            moved.ask(m.PlayMove("ann", 0, "a1"))
            await until(4.9)
            assert resigned.answers == []
            await until(5)
            assert resigned.answers == [Interrupted], "the end may still be committed"
            await until(6.9)
            assert moved.answers == []
            await until(7)
            assert moved.answers == [Overloaded], "the reply must say that nothing was done"
            assert await moves_of_match(s.reader, "acme", match_id) == []
        await until(11)
        assert (await match_row(s, match_id)).end_reason == "resigned"
        assert ann.kinds() == ["ended"]


async def test_commands_held_behind_one_that_fails_are_answered(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async def full(table: TableActor, command: m.PlayMove, envelope: Envelope) -> object:
        raise WriterFull("the writer is full")

    async with ready_core(tmp_path) as s, trio.open_nursery() as nursery:
        with ends_are(slowly):
            match_id, _, _ = await at_table(s)
            asked = Asked(s, match_id, nursery)
            for command in (
                m.Resign("bob"),
                m.PlayMove("ann", 0, "a1"),
                m.JoinTable("ann", None, None),
            ):
                asked.ask(command)
                await settle()
            with mock.patch.dict(TableActor.HANDLERS, {m.PlayMove: full}):
                await until(4.5)
        resigned, failed, snapshot = asked.answers
        assert (resigned, failed) == (m.ActionTaken(), Overloaded)
        assert isinstance(snapshot, Snapshot)


async def test_the_number_of_calls_that_wait_for_an_end_is_limited(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s, trio.open_nursery() as nursery:
        with ends_are(slowly):
            match_id, _, _ = await at_table(s)
            asked = Asked(s, match_id, nursery)
            asked.ask(m.Resign("bob"))
            await settle()
            for _ in range(HELD_MAX):
                asked.ask(m.JoinTable("ann", None, None))
            await until(1)
            assert asked.answers == [Overloaded]
            await until(4)
        assert len(asked.answers) == HELD_MAX + 1
        assert asked.answers.count(m.ActionTaken()) == 1
        assert (await match_row(s, match_id)).end_reason == "resigned"


async def test_a_resignation_is_refused_when_the_match_ends_otherwise(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s, trio.open_nursery() as nursery:
        with ends_are(never):
            match_id, _, _ = await at_table(s)
            asked = Asked(s, match_id, nursery)
            asked.ask(m.Resign("bob"))
            await until(1)
            await s.decide(match_id, None)
            await settle()
        assert asked.answers == [m.ActionRefused("match_over")]
