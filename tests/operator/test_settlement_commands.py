"""`pgs settlement`: what is open is listed, asked for again, and decided in settlement's place."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
import trio

from pgs.actors.core import Core
from pgs.actors.messages.seats import DecideMatch, Seated, StakeSeat
from pgs.app import open_core
from pgs.config import Config
from pgs.domain.errors import Refusal
from pgs.domain.seats import SeatRequest
from pgs.operator.commands import settlement as c
from pgs.operator.messages import Done, Refused, answer_to
from pgs.operator.ready_partners import make_ready, offer_tier
from pgs.operator.settlement_records import Asked, OpenItem, OpenPage, Resolved
from pgs.operator.unix_socket import serve_operator
from pgs.storage.columns import NEWEST
from pgs.storage.events import events_page
from pgs.storage.ledger import check_ledger
from pgs.storage.seats import find_by_idempotency_key, find_seat
from tests.actors.scripted_settlement import ScriptedSettlement
from tests.operator.support import Operator
from tests.patience import PATIENCE_S


def scripted(**of_charge: list[str]) -> ScriptedSettlement:
    """Return a settlement that answers these idempotency keys as listed and confirms all others."""
    port = ScriptedSettlement()
    port.of_charge = of_charge  # type: ignore[assignment]  # a port that the test scripts
    return port


@asynccontextmanager
async def a_core(folder: Path, port: ScriptedSettlement | None) -> AsyncIterator[Core]:
    """Open a core, in a new folder with the partner `acme`."""
    async with open_core(Config(data_dir=folder), settlement=port) as core:
        if core.parts.registry.account("acme") is None:
            await offer_tier(core, "test", "bronze", 100, 180, "Bronze")
            await make_ready(core, "acme", "Acme", "admin@acme.example")
        yield core


async def take(core: Core, player: str) -> Seated | Refusal:
    request = SeatRequest(player, "tic-tac-toe", "bronze", 100, player, None)
    return await core.directory.partner("acme").seats("test").ask(StakeSeat(request))


async def play(core: Core, winner: str | None) -> str:
    """Let ann and bob play a match; return its id."""
    await take(core, "ann")
    seated = await take(core, "bob")
    assert isinstance(seated, Seated)
    match_id = seated.seat.match_id or ""
    decide = DecideMatch(match_id, "ended", winner, "decided_by_test_key")
    await core.directory.partner("acme").seats("test").ask(decide)
    return match_id


async def seat_id(core: Core, player: str) -> str:
    seat = await find_by_idempotency_key(core.parts.database.reader, "acme", "test", player)
    assert seat is not None
    return seat.seat_id


async def listed(core: Core) -> list[OpenItem]:
    page = await c.list_open(core, c.ItemsAfter())
    assert isinstance(page, OpenPage)
    items = page.items
    while page.next_after is not None:
        page = await c.list_open(core, c.ItemsAfter(page.next_after))
        assert isinstance(page, OpenPage)
        items += page.items
    return items


async def until_recorded(core: Core, seat: str) -> None:
    with trio.fail_after(PATIENCE_S):
        while True:
            row = await find_seat(core.parts.database.reader, "acme", seat)
            if row is not None and row.rake_usd_cents is not None:
                return
            await trio.sleep(0.01)


async def until_answered(core: Core, count: int) -> list[OpenItem]:
    """Return the open items once so many of them have had an answer."""
    with trio.fail_after(PATIENCE_S):
        while True:
            items = await listed(core)
            if len([item for item in items if item.tries]) == count == len(items):
                return items
            await trio.sleep(0.01)


async def until_asked_again(core: Core, before: list[OpenItem]) -> None:
    """Return once each of these items has had a further answer."""
    tries = {item.id: item.tries or 0 for item in before}
    with trio.fail_after(PATIENCE_S):
        while True:
            if all((item.tries or 0) > tries[item.id] for item in await listed(core)):
                return
            await trio.sleep(0.01)


async def test_the_list_tells_of_each_open_charge_and_payout(tmp_path: Path) -> None:
    port = scripted(cleo=["unpublished"])
    port.of_payout = {"bob": ["pending"], "ann": ["declined"]}
    async with a_core(tmp_path, port) as core:
        match_id = await play(core, None)
        await take(core, "cleo")
        items = await until_answered(core, 3)
        assert [(item.kind, item.player_id, item.last_answer, item.why) for item in items] == [
            ("charge", "cleo", "502", None),
            ("refund", "ann", "declined", "settlement has declined it: retry or resolve it"),
            ("refund", "bob", "pending", None),
        ]
        charge, refund, _ = items
        assert charge.id == charge.seat_id == await seat_id(core, "cleo")
        assert refund.id == f"{match_id}:{await seat_id(core, 'ann')}"
        assert (refund.match_id, refund.amount_usd_cents, refund.settlement, refund.tries) == (
            match_id,
            100,
            "remote",
            1,
        )


async def test_the_list_comes_in_pages_of_any_size(tmp_path: Path) -> None:
    players = [f"p{number}" for number in range(5)]
    async with a_core(tmp_path, scripted(**{player: ["pending"] for player in players})) as core:
        for player in players:
            await take(core, player)
        seen, after = list[str](), ""
        while True:
            page = await c.list_open(core, c.ItemsAfter(after, 2))
            assert isinstance(page, OpenPage)
            assert len(page.items) <= 2
            seen += [item.player_id for item in page.items]
            if page.next_after is None:
                break
            after = page.next_after
        assert sorted(seen) == players


async def test_a_cursor_of_the_list_that_no_page_gave_is_refused(tmp_path: Path) -> None:
    async with a_core(tmp_path, None) as core:
        answer = answer_to(await c.list_open(core, c.ItemsAfter("nonsense")))
        assert isinstance(answer, Refused)


async def test_a_retry_of_one_item_says_what_has_become_of_it(tmp_path: Path) -> None:
    port = scripted(cleo=["unpublished", "pending", "confirmed"])
    async with a_core(tmp_path, port) as core:
        await take(core, "cleo")
        (item,) = await until_answered(core, 1)
        assert await c.retry(core, c.Item(item.id)) == Asked(1, outcome=f"{item.id}: pending")
        assert await c.retry(core, c.Item(item.id)) == Asked(1, outcome="decided")
        assert await listed(core) == []
        assert isinstance(answer_to(await c.retry(core, c.Item(item.id))), Refused)


async def test_a_retry_of_all_items_asks_for_each_even_while_calls_are_stopped(
    tmp_path: Path,
) -> None:
    players = [f"p{number}" for number in range(8)]
    port = scripted(**{player: ["unpublished", "confirmed"] for player in players})
    async with a_core(tmp_path, port) as core:
        for player in players:
            await take(core, player)
        assert core.parts.settlements.breaker.state(trio.current_time()) != "closed"
        assert len(await listed(core)) == 8
        assert await c.retry(core, c.Item()) == Asked(8)
        with trio.fail_after(PATIENCE_S):
            while await listed(core):
                await c.retry(core, c.Item())
                await trio.sleep(0.05)
        assert (await check_ledger(core.parts.database.reader)).sound


async def test_a_retry_counts_what_the_list_counts(tmp_path: Path) -> None:
    port = scripted(cleo=["pending"])
    port.of_payout = {"bob": ["pending"], "ann": ["pending"]}
    async with a_core(tmp_path, port) as core:
        match_id = await play(core, None)
        await take(core, "cleo")
        items = await until_answered(core, 3)
        assert await c.retry(core, c.Item()) == Asked(len(items))
        await until_asked_again(core, items)
        both = await c.retry(core, c.Item(match_id))
        assert isinstance(both, Asked)
        assert both.asked == 2


async def test_a_retry_asks_for_a_declined_payout_again(tmp_path: Path) -> None:
    port = scripted()
    port.of_payout = {"bob": ["declined", "confirmed"]}
    async with a_core(tmp_path, port) as core:
        match_id = await play(core, "bob")
        (item,) = await until_answered(core, 1)
        assert (item.id, item.kind) == (f"{match_id}:{await seat_id(core, 'bob')}", "prize")
        assert await c.retry(core, c.Item(item.id)) == Asked(1, outcome="decided")


@pytest.mark.parametrize(
    ("decision", "status"), [("confirmed", "waiting"), ("declined", "declined")]
)
async def test_an_operator_decides_a_pending_stake_and_the_event_log_has_it(
    decision: str, status: str, tmp_path: Path
) -> None:
    async with a_core(tmp_path, scripted(cleo=["pending"])) as core:
        await take(core, "cleo")
        (item,) = await until_answered(core, 1)
        resolved = await c.resolve(core, c.Decision(item.id, cast(Any, decision)))
        assert resolved == Resolved(item.id, "charge", decision, status)
        row = await find_seat(core.parts.database.reader, "acme", item.id)
        assert row is not None
        assert row.status == status
        (event, *_) = await events_page(
            core.parts.database.reader, "acme", NEWEST, 1, with_invites=True
        )
        assert (event.action, event.actor) == ("settlement.resolved", "platform")
        assert msgspec.json.decode(event.detail) == {
            "environment": "test",
            "item": item.id,
            "kind": "charge",
            "amountUsdCents": 100,
            "decision": decision,
        }
        assert (await check_ledger(core.parts.database.reader)).sound
        again = answer_to(await c.resolve(core, c.Decision(item.id, "declined")))
        assert isinstance(again, Refused)


async def test_an_operators_confirmation_of_one_payout_outlives_a_restart(tmp_path: Path) -> None:
    port = scripted()
    port.of_payout = {"ann": ["declined"], "bob": ["pending"]}
    async with a_core(tmp_path, port) as core:
        match_id = await play(core, None)
        ann, _ = await until_answered(core, 2)
        resolved = await c.resolve(core, c.Decision(ann.id, "confirmed"))
        assert resolved == Resolved(ann.id, "refund", "confirmed", "confirmed")
        assert [item.player_id for item in await until_answered(core, 1)] == ["bob"]
    asked = port.payouts_asked[match_id, ann.seat_id]
    port.of_payout["bob"] = ["confirmed"]
    async with a_core(tmp_path, port) as core:
        await c.retry(core, c.Item())
        await until_recorded(core, ann.seat_id)
        assert port.payouts_asked[match_id, ann.seat_id] == asked
        assert (await check_ledger(core.parts.database.reader)).sound


async def test_a_resolved_payout_is_neither_listed_nor_resolved_again_after_a_restart(
    tmp_path: Path,
) -> None:
    port = scripted()
    port.of_payout = {"ann": ["pending"], "bob": ["pending"]}
    async with a_core(tmp_path, port) as core:
        await play(core, None)
        resolved, left = await until_answered(core, 2)
        await c.resolve(core, c.Decision(resolved.id, "confirmed"))
    async with a_core(tmp_path, None) as core:  # nobody asks, so nobody notices by asking
        assert [item.id for item in await listed(core)] == [left.id]
        again = answer_to(await c.resolve(core, c.Decision(resolved.id, "confirmed")))
        assert isinstance(again, Refused)
        assert "names no open charge or payout" in again.error


async def test_a_payout_cannot_be_declined_since_the_money_is_owed(tmp_path: Path) -> None:
    port = scripted()
    port.of_payout = {"bob": ["declined"]}
    async with a_core(tmp_path, port) as core:
        await play(core, "bob")
        (item,) = await until_answered(core, 1)
        answer = answer_to(await c.resolve(core, c.Decision(item.id, "declined")))
        assert isinstance(answer, Refused)
        assert "can only be confirmed" in answer.error
        # A decision is final, so a match alone is not enough.
        alone = answer_to(await c.resolve(core, c.Decision(item.match_id or "", "confirmed")))
        assert isinstance(alone, Refused)
        assert isinstance(await c.resolve(core, c.Decision(item.id, "confirmed")), Resolved)
        await until_recorded(core, item.seat_id)


async def test_what_a_server_that_is_not_set_holds_is_listed_with_that_reason(
    tmp_path: Path,
) -> None:
    async with a_core(tmp_path, scripted(cleo=["pending"])) as core:
        await take(core, "cleo")
    async with a_core(tmp_path, None) as core:
        (item,) = await listed(core)
        assert (item.why, item.tries) == ("PGS_SETTLEMENT_URL names no settlement server", 0)
        assert await c.retry(core, c.Item()) == Asked(0, unset=1)
        assert isinstance(answer_to(await c.retry(core, c.Item(item.id))), Refused)
        assert isinstance(await c.resolve(core, c.Decision(item.id, "declined")), Resolved)
        assert await listed(core) == []


@pytest.mark.parametrize("running", [True, False])
async def test_the_commands_work_with_a_service_and_without(tmp_path: Path, running: bool) -> None:
    async with a_core(tmp_path, scripted(cleo=["pending"])) as core:
        await take(core, "cleo")
        name = await seat_id(core, "cleo")
    operator = Operator(tmp_path)

    async def check() -> None:
        assert [
            item.id for item in (await operator.done(c.SETTLEMENT_LIST, c.ItemsAfter())).items
        ] == [name]
        assert await operator.done(c.SETTLEMENT_RETRY, c.Item()) == Asked(0, unset=1)
        done = await operator.ask(c.SETTLEMENT_RESOLVE, c.Decision(name, "confirmed"))
        assert isinstance(done, Done)

    if not running:
        await check()
        return
    async with a_core(tmp_path, None) as core, trio.open_nursery() as nursery:
        await nursery.start(serve_operator, core, tmp_path)
        await check()
        nursery.cancel_scope.cancel()


async def test_a_retry_of_all_items_passes_over_a_degraded_partner(tmp_path: Path) -> None:
    async with a_core(tmp_path, scripted(cleo=["pending"])) as core:
        await take(core, "cleo")
        await until_answered(core, 1)
        while not core.directory.partner("acme").restarts.crashed(trio.current_time()):
            pass
        assert await c.retry(core, c.Item()) == Asked(0, busy=1)
