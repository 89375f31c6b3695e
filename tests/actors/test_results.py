"""The feed as its readers see it: positions, revisions, and the bells that held calls wait for."""

import random
from pathlib import Path
from unittest.mock import patch

import msgspec
import pytest
import trio
from trio.testing import MockClock

from pgs.actors.messages.account.keys import RevokeKey
from pgs.actors.shared.feed_bells import LONG_POLLS_LIMIT, ResultsBells
from pgs.domain.environments import Environment
from pgs.domain.errors import refuse
from pgs.domain.seats import Seat
from pgs.http.api.endpoint import Answer, Call
from pgs.http.partner.results import ResultsPage, read_results
from pgs.storage import accounts
from pgs.storage.reader import Row
from pgs.storage.transactions import SqlValue
from tests.actors.feed_calls import call, key_for
from tests.actors.ready_core import at, keys_of, money, ready_core, until
from tests.actors.scripted_settlement import ScriptedSettlement


@pytest.mark.usefixtures("rare_chores")
async def test_positions_leave_no_gap_and_rise_in_the_order_of_commits(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        seen: list[tuple[int, list[int]]] = []
        await s.seat("alice")
        bob = await s.seat("bob")
        seen.append(((await s.head()).feed_position, [row.position or 0 for row in await s.feed()]))
        await s.seat("carol")
        await s.decide(bob.match_id, "bob")
        seen.append(((await s.head()).feed_position, [row.position or 0 for row in await s.feed()]))
        await until(1)
        seen.append(((await s.head()).feed_position, [row.position or 0 for row in await s.feed()]))
        await until(3601)
        seen.append(((await s.head()).feed_position, [row.position or 0 for row in await s.feed()]))
        assert seen == [(2, [1, 2]), (4, [3, 4]), (6, [5, 6]), (8, [5, 6, 8])]
        assert [row.revision for row in await s.feed()] == [3, 3, 2]


async def test_each_partner_and_environment_counts_its_own_feed_positions(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.open_partner("other")
        places: list[tuple[Environment, str]] = [
            ("test", "acme"),
            ("live", "acme"),
            ("test", "other"),
        ]
        for environment, partner in places:
            for player in ("alice", "bob"):
                await s.seat(player, environment=environment, partner=partner)
        await until(1)  # live seats are paired once a second
        for environment, partner in places:
            feed = await s.feed(environment, partner)
            assert [(row.position, row.environment, row.partner_id) for row in feed] == [
                (1, environment, partner),
                (2, environment, partner),
            ]


@pytest.mark.parametrize("limit", [1, 3, 500])
@pytest.mark.usefixtures("rare_chores")
async def test_a_reader_who_follows_cursors_ends_with_the_last_revision_of_every_row(
    limit: int, tmp_path: Path, autojump_clock: MockClock
) -> None:
    chance = random.Random(limit)
    async with ready_core(tmp_path) as s:
        latest: dict[str, Seat] = {}
        after = 0

        async def read_a_page() -> bool:
            nonlocal after
            for row in (await s.feed(after=after))[:limit]:
                assert row.position is not None
                assert row.seat_id not in latest or latest[row.seat_id].revision < row.revision
                latest[row.seat_id] = row
                after = row.position
            return after < (await s.head()).feed_position

        for number in range(30):
            await s.seat(f"p{chance.randrange(6)}", f"k{number}")
            for row in await s.feed():
                if (
                    row.status == "matched"
                    and chance.random() < 0.3
                    and (await s.row(row)).status == "matched"
                ):
                    await s.decide(row.match_id, chance.choice([row.player_id, None]))
            await trio.sleep(chance.random() * 2)
            await read_a_page()
        await trio.sleep(8000)
        while await read_a_page():
            pass
        assert latest == {row.seat_id: row for row in await s.feed()}
        assert len(latest) == 30
        assert all(money(row) != (None, None, None) for row in latest.values())


async def test_all_of_a_matchs_money_appears_at_one_moment(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement(of_payout={"alice": ["pending", "confirmed"]})
    async with ready_core(tmp_path, port) as s:
        await s.seat("alice")
        bob = await s.seat("bob")
        await s.decide(bob.match_id, None)
        moments = set()
        while (await s.match_of(bob)).money == "due":
            moments.add(tuple(money(row) for row in await s.feed()))
            await trio.lowlevel.checkpoint()
            await trio.sleep(0.01)
        assert moments == {((None, None, None), (None, None, None))}
        assert [money(row) for row in await s.feed()] == [(0, 100, 0), (0, 100, 0)]


# --- held calls -----------------------------------------------------------------------------------


class Held:
    """A held call: its answer, and when it came."""

    def __init__(self) -> None:
        self.answer: Answer | None = None
        self.at: float | None = None

    @property
    def done(self) -> bool:
        return self.at is not None

    async def run(self, held: Call) -> None:
        self.answer = await read_results(held)
        self.at = round(trio.current_time(), 2)


async def test_a_held_call_is_answered_when_its_feed_moves_and_not_before(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        principal = await key_for(s)
        held = Held()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(held.run, call(s, principal, waitSeconds="25"))
            await until(2)
            await s.seat("alice")  # a waiting seat is not in the feed
            for player in ("alice", "bob"):
                await s.seat(player, environment="live")  # another feed
            await until(4)
            assert not held.done
            await s.seat("bob")
        assert held.at == 4
        assert isinstance(held.answer, ResultsPage)
        assert [row.player_id for row in held.answer.results] == ["alice", "bob"]
        again = await read_results(call(s, principal, cursor=held.answer.next_cursor))
        assert isinstance(again, ResultsPage)
        assert (again.results, again.has_more) == ([], False)


async def test_a_held_call_whose_feed_does_not_move_ends_with_an_empty_page(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        held = Held()
        await held.run(call(s, await key_for(s), waitSeconds="25"))
        assert held.at == 25
        assert isinstance(held.answer, ResultsPage)
        assert held.answer.results == []


@pytest.mark.parametrize("how", ["revoked", "switched off", "stopping", "revoked in rows"])
async def test_a_held_call_ends_when_its_key_account_or_service_is_switched_off(
    how: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        principal = await key_for(s)
        held = Held()
        async with trio.open_nursery() as nursery:
            await until(58)
            nursery.start_soon(held.run, call(s, principal, waitSeconds="25"))
            await until(59)
            if how == "revoked":
                await s.partner().account().ask(RevokeKey("ops", principal.key.key_id))
            elif how == "switched off":
                await s.switch(False)
            elif how == "stopping":
                s.parts.bells.ring_all()
            else:
                await s.write_without_the_actors(
                    accounts.schedule_revocation("acme", principal.key.key_id, 1)
                )
        if how == "stopping":
            assert isinstance(held.answer, ResultsPage)
        else:
            assert held.answer == refuse(
                "partner_inactive" if how == "switched off" else "invalid_key"
            )
        assert held.at == (60 if how == "revoked in rows" else 59)


async def test_no_more_than_32_calls_of_a_partner_are_held_in_both_environments_together(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        principal = await key_for(s)
        calls = [Held() for _ in range(LONG_POLLS_LIMIT + 2)]
        async with trio.open_nursery() as nursery:
            for number, held in enumerate(calls):
                nursery.start_soon(held.run, call(s, principal, waitSeconds="5"))
                await until(number / 100)
            assert LONG_POLLS_LIMIT == 32
            assert [held.done for held in calls] == [False] * 32 + [True] * 2
            await until(1)
            nursery.cancel_scope.cancel()  # their clients have left
        after = Held()
        await after.run(call(s, principal, waitSeconds="5"))
        assert after.at == 6


async def test_a_held_call_whose_key_is_revoked_as_its_feed_moves_is_refused(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        principal = await key_for(s)
        held = Held()
        await s.seat("alice")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(held.run, call(s, principal, waitSeconds="25"))
            await until(2)
            revoked = msgspec.structs.replace(principal.key, revokes_at=at(1))
            s.parts.registry.publish(msgspec.structs.replace(s.account(), keys=(revoked,)))
            await s.seat("bob")
        assert (held.at, held.answer) == (2, refuse("invalid_key"))


async def test_a_held_call_hears_of_a_row_that_is_written_while_it_reads(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        principal = await key_for(s)
        reader, held = s.parts.database.reader, Held()
        opponents = ["bob"]
        await s.seat("alice")

        async def suspended(name: str, **params: SqlValue) -> list[Row]:
            """Read like a database across a network: others go on before the rows arrive."""
            rows = await type(reader).all(reader, name, **params)
            if name == "results.page" and opponents:
                await s.seat(opponents.pop())
            return rows

        with patch.object(reader, "all", suspended):
            await held.run(call(s, principal, waitSeconds="25"))
        assert isinstance(held.answer, ResultsPage)
        assert [row.player_id for row in held.answer.results] == ["alice", "bob"]
        assert (held.at or 0) < 1


async def test_a_bell_that_has_rung_wakes_nobody_who_comes_later(autojump_clock: MockClock) -> None:
    """If it did, every later held call would read the rows in a loop without a pause."""
    bells = ResultsBells()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bells.wait, "acme", "test", 100.0)
        await trio.sleep(1)
        bells.ring("acme", "test")
    assert trio.current_time() < 2
    await bells.wait("acme", "test", 50.0)
    assert trio.current_time() == 50.0


async def test_bells_keep_partners_and_environments_apart(autojump_clock: MockClock) -> None:
    bells = ResultsBells()
    rung: list[tuple[str, Environment]] = []

    async def wait(partner: str, environment: Environment) -> None:
        await bells.wait(partner, environment, float("inf"))
        rung.append((partner, environment))

    with bells.hold("acme") as first, bells.hold("other") as second:
        assert (first, second) == (True, True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait, "acme", "test")
        nursery.start_soon(wait, "acme", "live")
        nursery.start_soon(wait, "other", "test")
        await trio.testing.wait_all_tasks_blocked()
        bells.ring("acme", "test")
        await trio.testing.wait_all_tasks_blocked()
        assert rung == [("acme", "test")]
        bells.ring_all()
    assert len(rung) == 3
    with bells.hold("acme") as held:
        assert not held
    await bells.wait("acme", "test", float("inf"))  # returns at once


async def test_the_rows_of_a_match_come_in_the_order_of_their_seats(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.seat("alice")
        bob = await s.seat("bob")
        await s.decide(bob.match_id, None)
        await until(1)
        assert keys_of(await s.feed()) == ["alice", "bob"]
