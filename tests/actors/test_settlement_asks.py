"""The memory of asks is bounded, and forgetting leads to another question, never to lost money."""

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.messages.seats import ResolvePayout
from pgs.actors.shared import settlement_asks
from pgs.actors.shared.settlement_asks import Ask, Asks
from tests.actors.playing import match_row, seated
from tests.actors.ready_core import ready_core, until
from tests.actors.scripted_settlement import ScriptedSettlement


def _remembered(asks: Asks, *item_ids: str) -> list[str]:
    return [item_id for item_id in item_ids if asks.find("acme", item_id) != Ask()]


def test_answers_and_confirmations_share_one_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settlement_asks, "ASKS_MAX", 2)
    asks = Asks()
    asks.note("acme", "a", "pending", "pending", 1)
    for item_id in "bcd":
        asks.confirm("acme", item_id)
    assert _remembered(asks, "a", "b", "c", "d") == ["c", "d"]
    asks.note("acme", "e", "declined", "declined", 2)
    assert _remembered(asks, "c", "d", "e") == ["d", "e"]


def test_what_was_noted_longest_ago_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settlement_asks, "ASKS_MAX", 3)
    asks = Asks()
    for item_id in "abc":
        asks.note("acme", item_id, "pending", "pending", 1)
    asks.confirm("acme", "a")
    asks.note("acme", "b", "pending", "pending", 2)
    asks.confirm("acme", "d")
    assert _remembered(asks, "a", "b", "c", "d") == ["a", "b", "d"]


async def test_a_full_memory_loses_no_payout_that_an_operator_has_confirmed(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settlement_asks, "ASKS_MAX", 2)
    port = ScriptedSettlement(of_payout={name: ["declined"] for name in ("ann", "bob", "cy", "di")})
    async with ready_core(tmp_path, port) as s:
        matches = [await seated(s, "ann", "bob"), await seated(s, "cy", "di")]
        for match_id in matches:
            await s.decide(match_id, None)
        await until(2)
        seats = s.partner().seats("test")
        for match_id, seat_id in list(port.payouts_asked):
            asked = port.payouts_asked[match_id, seat_id]
            assert (await seats.ask(ResolvePayout(match_id, seat_id))).was_open
            await until(trio.current_time() + 90)  # the other payouts are asked for meanwhile
            assert port.payouts_asked[match_id, seat_id] == asked
        assert [(await match_row(s, match_id)).money for match_id in matches] == ["recorded"] * 2
        assert port.paid == {}
        await s.check_money()
