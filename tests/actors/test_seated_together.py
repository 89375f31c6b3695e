"""Two players who are seated against each other in one step."""

from pathlib import Path

import trio
from trio.testing import MockClock

from pgs.actors.messages.seats import SeatedTogether, SeatTogether
from tests.actors.ready_core import FLOOR, GAME, PRIZE, ready_core
from tests.actors.scripted_settlement import ScriptedSettlement


async def test_players_seated_together_involve_no_settlement_server_and_their_money_adds_up(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement()
    async with ready_core(tmp_path, port) as s:
        seats = s.partner().seats("test")
        command = SeatTogether(("alice", "bob"), GAME, "bronze", None, "try:1")
        reply = await seats.ask(command)
        assert isinstance(reply, SeatedTogether)
        assert reply.stake_usd_cents == FLOOR
        assert port.asked == []
        await s.check_money()
        await s.decide(reply.match_id, "alice")
        await trio.sleep(1)
        assert not port.payouts_asked
        assert [seat.rake_usd_cents for seat in await s.feed()] == [0, 2 * FLOOR - PRIZE]
        await s.check_money()
