"""Usage, seat summary and digest over real sockets: figures of final days, and their refusals."""

import hashlib
import threading
from collections import defaultdict
from datetime import UTC, datetime
from typing import Any

import pytest
import trio

from pgs.domain.days import day_of
from pgs.domain.totals import Totals, TotalsKey
from pgs.http.billing import digest
from pgs.storage.accounts import read_accounts
from pgs.storage.bulk import read_in_bulk
from pgs.storage.totals import raise_totals
from pgs.storage.transactions import Tx
from tests.journeys.billed import open_billed
from tests.journeys.client import check_plain, check_refusal
from tests.journeys.partners import SILVER, SILVER_CENTS
from tests.journeys.places import Place
from tests.journeys.service import until
from tests.patience import PATIENCE_S

SUMS = ("stakesUsdCents", "payoutsUsdCents", "refundsUsdCents", "rakeUsdCents")


def check_sums(figures: dict[str, int]) -> None:
    stakes, *parts = (figures[name] for name in SUMS)
    assert stakes == sum(parts) + figures.get("openUsdCents", 0)


async def test_usage_counts_matches_on_the_day_of_their_decision(place: Place) -> None:
    async with open_billed(place) as billed:
        await billed.match("won")
        await billed.match("drawn")
        billed.clock.set(2028, 2, 29)
        await billed.match("no_contest")
        await billed.match("won", tier_id=SILVER, stake_usd_cents=SILVER_CENTS)
        billed.clock.set(2028, 3, 1, 0, 30)
        usage = await billed.read_ok("/partner/usage?from=20280227&to=20280229")
    for figures in (*usage["days"], usage["totals"]):
        check_sums(figures)
    empty = dict.fromkeys(("matches", "seats", "noContests", *SUMS), 0)
    assert usage == {
        "environment": "test",
        "from": "20280227",
        "to": "20280229",
        "latestDay": "20280229",
        "days": [
            {"day": "20280227", **empty},
            {
                "day": "20280228",
                "matches": 2,
                "seats": 4,
                "noContests": 0,
                "stakesUsdCents": 400,
                "payoutsUsdCents": 180,
                "refundsUsdCents": 200,
                "rakeUsdCents": 20,
            },
            {
                "day": "20280229",
                "matches": 1,
                "seats": 4,
                "noContests": 1,
                "stakesUsdCents": 500,
                "payoutsUsdCents": 200,
                "refundsUsdCents": 200,
                "rakeUsdCents": 100,
            },
        ],
        "totals": {
            "matches": 3,
            "seats": 8,
            "noContests": 1,
            "stakesUsdCents": 900,
            "payoutsUsdCents": 380,
            "refundsUsdCents": 400,
            "rakeUsdCents": 120,
        },
    }


async def test_the_seat_summary_counts_seats_on_the_day_of_their_confirmation(
    place: Place,
) -> None:
    async with open_billed(place) as billed:
        await billed.match("won")
        await billed.match("no_contest", tier_id=SILVER, stake_usd_cents=SILVER_CENTS)
        billed.clock.set(2028, 2, 29)
        summary = await billed.read_ok("/partner/seat-summary?from=20280228&to=20280228")
    for figures in (*summary["rows"], summary["totals"]):
        check_sums(figures)
    assert [(row["gameId"], row["tierId"]) for row in summary["rows"]] == [
        ("tic-tac-toe", "bronze"),
        ("tic-tac-toe", "silver"),
    ]
    assert summary["totals"] == {
        "seats": 4,
        "confirmed": 4,
        "refunded": 2,
        "stakesUsdCents": 500,
        "payoutsUsdCents": 180,
        "refundsUsdCents": 300,
        "rakeUsdCents": 20,
        "openUsdCents": 0,
    }


async def test_a_day_is_final_half_an_hour_after_its_end(place: Place) -> None:
    async with open_billed(place) as billed:
        path = "/partner/usage?from=20280228&to=20280228"
        billed.clock.set(2028, 2, 29, 0, 29)
        refused = await billed.read(path)
        check_refusal(refused, 400, "day_not_final", latestDay="20280227")
        billed.clock.set(2028, 2, 29, 0, 30)
        assert (await billed.read_ok(path))["latestDay"] == "20280228"


async def test_a_day_is_not_final_before_the_money_of_its_seats_is_recorded(place: Place) -> None:
    async with open_billed(place) as billed:
        path = "/partner/usage?from=20280228&to=20280228"
        billed.clock.set(2028, 2, 28, 23, 50)
        await billed.seat()
        billed.clock.set(2028, 2, 29, 0, 40)
        refused = await billed.read(path)
        check_refusal(refused, 400, "day_not_final", latestDay="20280227")
        match_id = (await billed.seat())["matchId"]
        decision = {"outcome": "ended", "winnerPlayerId": None}
        await billed.write(f"/partner/test/matches/{match_id}/decide", decision)
        await until(lambda: billed.is_paid(match_id))
        usage = await billed.read_ok(path)
    assert usage["latestDay"] == "20280228"
    assert usage["totals"]["matches"] == 0  # it was decided on the 29th


async def test_a_clock_that_was_put_back_changes_no_final_day(place: Place) -> None:
    async with open_billed(place) as billed:
        await billed.match("won")
        billed.clock.set(2028, 3, 1)
        path = "/partner/usage?from=20280228&to=20280229"
        before = await billed.read_ok(path)
        digest = await billed.read_ok("/partner/results/digest?from=20280228&to=20280229")
        billed.clock.set(2028, 2, 28)
        await billed.match("won")
        assert await billed.read_ok(path) == before
        assert await billed.read_ok("/partner/results/digest?from=20280228&to=20280229") == digest
        billed.clock.set(2028, 3, 2)
        later = await billed.read_ok("/partner/usage?from=20280301&to=20280301")
    assert later["totals"]["matches"] == 1


@pytest.mark.parametrize("path", ["usage", "seat-summary", "results/digest"])
async def test_the_refusals_of_a_range_come_in_their_order(path: str, place: Place) -> None:
    cases: list[tuple[str, str, dict[str, Any]]] = [
        ("", "missing_parameter", {"parameter": "from"}),
        ("?to=nonsense", "missing_parameter", {"parameter": "from"}),
        ("?from=nonsense", "missing_parameter", {"parameter": "to"}),
        ("?from=20280230&to=x", "malformed_day", {"parameter": "from"}),
        ("?from=20280228&to=20270229", "malformed_day", {"parameter": "to"}),
        ("?from=2028228&to=20280228", "malformed_day", {"parameter": "from"}),
        ("?from=20280228&to=20250228", "range_backwards", {}),
        ("?from=20280101&to=20280402", "range_too_wide", {"maxRangeDays": 92}),
        ("?from=20280101&to=20280401", "day_not_final", {"latestDay": "20280227"}),
    ]
    async with open_billed(place) as billed:
        for query, reason, extras in cases:
            check_refusal(await billed.read(f"/partner/{path}{query}"), 400, reason, **extras)
        check_plain(await billed.read(f"/partner/{path}?from=1&from=2"), "from")
        other = await billed.service.partner("other")
        final = f"/partner/{path}?from=20280227&to=20280227"
        assert (await billed.read(final, other.live)).status == 200


async def test_a_partner_computes_the_digest_of_a_day_from_its_own_rows(place: Place) -> None:
    async with open_billed(place) as billed:
        rows, found = await billed.rows_and_digest()
    by_day: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        day = datetime.fromtimestamp(row["updatedAt"], UTC).strftime("%Y%m%d")
        fields = (
            row["matchId"],
            row["playerId"],
            row["outcome"],
            row.get("result", ""),
            row["payoutUsdCents"],
            row["refundUsdCents"],
            row["rakeUsdCents"],
        )
        by_day[day].append("|".join(map(str, fields)) + "\n")
    assert found["days"] == [
        {
            "day": day,
            "rows": len(by_day[day]),
            "sha256": hashlib.sha256("".join(sorted(by_day[day])).encode()).hexdigest(),
        }
        for day in ("20280227", "20280228", "20280229")
    ]
    assert [len(by_day[day]) for day in ("20280228", "20280229")] == [6, 2]


async def test_a_match_tells_its_own_money(place: Place) -> None:
    async with open_billed(place) as billed:
        match_id = await billed.match("won", tier_id=SILVER, stake_usd_cents=SILVER_CENTS)
        record = await billed.read_ok(f"/partner/matches/{match_id}")
    money = [
        {name: seat[name] for name in seat if name.endswith("UsdCents")} for seat in record["seats"]
    ]
    assert money == [
        {
            "stakeUsdCents": 150,
            "payoutUsdCents": 200,
            "refundUsdCents": 0,
            "rakeUsdCents": 0,
        },
        {
            "stakeUsdCents": 150,
            "payoutUsdCents": 0,
            "refundUsdCents": 0,
            "rakeUsdCents": 100,
        },
    ]


async def test_a_summary_of_more_than_200_000_seats_is_refused_and_a_shorter_one_is_answered(
    place: Place,
) -> None:
    """A million seats, as totals: the rows that a summary reads."""
    async with open_billed(place) as billed:
        writer, first = billed.service.core.parts.database.writer, day_of(billed.clock.now()) - 10
        for day in range(10):
            key = TotalsKey(first + day, "tic-tac-toe", "bronze")
            seats = Totals(
                seats=100_000,
                seats_refunded=100_000,
                seat_stakes_usd_cents=10_000_000,
                seat_refunds_usd_cents=10_000_000,
            )
            stmt = raise_totals(billed.partner.partner_id, "test", key, seats)
            await writer.submit(Tx(billed.partner.partner_id, (stmt,)))
        path = "/partner/seat-summary?from=20280218&to="
        two_days = await billed.read_ok(f"{path}20280219")
        assert two_days["totals"]["seats"] == 200_000
        for last in ("20280220", "20280227"):
            refused = await billed.read(path + last)
            check_refusal(refused, 400, "range_too_expensive")
            assert "more than 200,000 seats" in refused.json["error"]


async def test_a_digest_of_too_many_rows_is_refused(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digest, "ROWS_MAX", 2)
    async with open_billed(place) as billed:
        await billed.match("won")
        billed.clock.set(2028, 2, 29)
        await billed.match("won")
        billed.clock.set(2028, 3, 1)
        path = "/partner/results/digest?from=20280228&to="
        assert (await billed.read_ok(f"{path}20280228"))["days"][0]["rows"] == 2
        refused = await billed.read(f"{path}20280229")
        check_refusal(refused, 400, "range_too_expensive")
        assert "more than 2 rows" in refused.json["error"]


async def test_digests_hold_up_no_other_bulk_reads(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Admins' lists, the accounts and the waves of pairing are such reads."""
    begun, go_on = threading.Event(), threading.Event()
    released: list[bool] = []

    async def hash_slowly(*_: object) -> list[object]:
        begun.set()
        released.append(go_on.wait(PATIENCE_S))
        return []

    monkeypatch.setattr(digest, "digests_by_day", hash_slowly)
    path = "/partner/results/digest?from=20280227&to=20280227"
    async with open_billed(place) as billed, trio.open_nursery() as nursery:
        nursery.start_soon(billed.read_ok, path)
        await trio.to_thread.run_sync(begun.wait)
        assert await read_in_bulk(billed.service.core.parts.database, read_accounts)
        go_on.set()
    assert released == [True]
