"""What an operator decides about an item that was closed, or that never was, changes nothing."""

from pathlib import Path

from pgs.actors.messages.seats import (
    AskChargeNow,
    AskPayoutsNow,
    ResolveCharge,
    ResolvePayout,
)
from pgs.storage.ledger import check_ledger
from tests.operator.test_settlement_commands import (
    a_core,
    play,
    scripted,
    seat_id,
    take,
    until_answered,
    until_recorded,
)


async def test_an_item_that_settlement_closed_meanwhile_is_neither_asked_for_nor_decided(
    tmp_path: Path,
) -> None:
    port = scripted()
    async with a_core(tmp_path, port) as core:
        seats = core.directory.partner("acme").seats("test")
        match_id = await play(core, "bob")
        bob = await seat_id(core, "bob")
        await until_recorded(core, bob)
        asked = dict(port.payouts_asked)
        for seat in (bob, "sea_nobody"):
            assert not (await seats.ask(AskChargeNow(seat))).was_open
            assert await seats.ask(ResolveCharge(seat, "declined")) is None
        for match in (match_id, "mat_nobody"):
            assert not (await seats.ask(AskPayoutsNow(match))).was_open
            assert not (await seats.ask(ResolvePayout(match, bob))).was_open
        assert port.payouts_asked == asked
        assert (await check_ledger(core.parts.database.reader)).sound


async def test_a_payout_to_a_seat_that_is_owed_nothing_is_not_decided(tmp_path: Path) -> None:
    port = scripted()
    port.of_payout = {"bob": ["declined"]}
    async with a_core(tmp_path, port) as core:
        match_id = await play(core, "bob")
        before = await until_answered(core, 1)
        await take(core, "cleo")
        seats = core.directory.partner("acme").seats("test")
        for player in ("ann", "cleo"):
            resolved = await seats.ask(ResolvePayout(match_id, await seat_id(core, player)))
            assert not resolved.was_open
        assert [item.id for item in await until_answered(core, 1)] == [item.id for item in before]
