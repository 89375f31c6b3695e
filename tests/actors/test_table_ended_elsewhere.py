"""A match that ends elsewhere than at its table."""

from pathlib import Path
from unittest import mock

import pytest
from trio.testing import MockClock

from pgs.actors.messages.seats import CloseMatches
from pgs.domain.socket_frames import Snapshot
from pgs.storage.moves import moves_of_match
from tests.actors.playing import Player, at_table, match_row, seated
from tests.actors.ready_core import ready_core, settle, until


async def test_a_decision_from_outside_ends_the_table(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        await s.decide(match_id, None)
        await settle()
        for player in (ann, bob):
            (ended,) = player.take()
            assert (ended["type"], ended["result"], ended["endReason"]) == (
                "ended",
                "drawn",
                "decided_by_test_key",
            )
        assert await ann.move(match_id, 0, "a1") == "match_over"


async def test_a_match_that_ended_in_rows_alone_takes_no_move(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, bob = await at_table(s)
        with mock.patch(
            "pgs.actors.seating.after_commit.tell_tables"
        ):  # as if the message about the end had not arrived yet
            await s.decide(match_id, "bob")
        assert await ann.move(match_id, 0, "a1") == "match_over"
        assert await moves_of_match(s.reader, "acme", match_id) == []
        assert [player.kinds()[-1] for player in (ann, bob)] == ["ended", "ended"]


async def test_no_contest_has_no_result(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with ready_core(tmp_path) as s:
        match_id, ann, _ = await at_table(s)
        await s.partner().seats("test").ask(CloseMatches((match_id,), "platform_void"))
        await settle()
        (ended,) = ann.take()
        assert {name: ended[name] for name in ended if name not in ("matchId", "seq")} == {
            "type": "ended",
            "outcome": "no_contest",
            "dueUsdCents": 100,
            "endReason": "platform_void",
        }


@pytest.mark.usefixtures("rare_chores")
async def test_matches_of_a_game_that_is_no_longer_installed_are_voided(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        match_id = await seated(s, "ann", "bob")
        nobody_came = await seated(s, "carol", "dave")
        with mock.patch.dict(s.parts.games, clear=True):
            ann = await Player(s, "ann").enter()
            assert isinstance(await ann.join(match_id), Snapshot)
            await settle()
            assert (await match_row(s, match_id)).end_reason == "platform_void"
            assert ann.kinds() == ["snapshot", "ended"]
            await until(3601)
            assert (await match_row(s, nobody_came)).end_reason == "platform_void"
