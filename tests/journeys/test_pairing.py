"""Who is paired with whom, what a draw gives back, and the pages of the feed."""

from contextlib import AsyncExitStack

import trio

from tests.journeys.client import check_refusal, ok
from tests.journeys.launching import read_feed, seat_player
from tests.journeys.partners import BRONZE, SILVER
from tests.journeys.places import Place
from tests.journeys.play import mint, socket_of
from tests.journeys.service import in_process
from tests.patience import PATIENCE_S


async def test_live_seats_are_paired_in_the_next_wave_and_the_match_records_why(
    place: Place,
) -> None:
    async with in_process(place) as service, AsyncExitStack() as stack:
        key = (await service.partner()).live
        first = ok(await seat_player(service, key, "alice", "a"))
        assert first["heldBack"] == "player_absent"
        for player in ("alice", "bob"):
            token = await mint(service.public, key, player)
            await stack.enter_async_context(socket_of(service.public.next_url, token))
        other_tier = ok(
            await seat_player(service, key, "carol", "c", tierId=SILVER, stakeUsdCents=150)
        )
        again = ok(await seat_player(service, key, "alice", "a2"))
        assert [seat["status"] for seat in (first, other_tier, again)] == [
            "waiting"
        ] * 3  # no player is paired with themselves
        assert first["expiresAt"] - first["seatedAt"] == 300
        third = ok(await seat_player(service, key, "bob", "b"))
        assert (third["environment"], third["status"]) == ("live", "waiting")
        with trio.fail_after(PATIENCE_S):
            while third["matchId"] is None:
                await trio.sleep(0.05)
                third = ok(
                    await service.public.call("GET", f"/partner/seats/{third['seatId']}", key)
                )
        seats = [
            ok(await service.public.call("GET", f"/partner/seats/{seat['seatId']}", key))
            for seat in (first, other_tier, again)
        ]
        assert [(seat["status"], seat["matchId"]) for seat in seats] == [
            ("matched", third["matchId"]),
            ("waiting", None),
            ("waiting", None),
        ]
        record = ok(await service.public.call("GET", f"/partner/matches/{third['matchId']}", key))
        assert {seat["playerId"] for seat in record["seats"]} == {"alice", "bob"}
        assert record["pairing"].pop("begins") == record["seats"][0]["playerId"]
        assert (seats[2]["heldBack"], "heldBack" in seats[0]) == ("player_busy", False)
        waited, allowed, waves = (
            record["pairing"].pop(name) for name in ("waitedSeconds", "allowance", "waves")
        )
        assert record["pairing"] == {"rule": "live.v1", "ratingGap": 0.0, "candidates": 1}
        assert (waited >= 1, waves >= 1) == (True, True)
        assert 0 < allowed <= 0.1 * (waited + 1)


async def test_seats_of_different_environments_are_never_paired(place: Place) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        live = ok(await seat_player(service, partner.live, "alice", "one-key"))
        test = ok(await seat_player(service, partner.test, "bob", "one-key"))
        assert (live["status"], test["status"]) == ("waiting", "waiting")
        assert live["seatId"] != test["seatId"]
        check_refusal(
            await service.public.call("GET", f"/partner/seats/{live['seatId']}", partner.test),
            404,
            "seat_not_found",
        )
        ok(await seat_player(service, partner.test, "carol", "c"))
        assert ok(await read_feed(service.public, partner.live))["results"] == []


async def test_seats_of_different_partners_are_never_paired(place: Place) -> None:
    async with in_process(place) as service:
        one, other = await service.partner("acme"), await service.partner("zenith")
        for partner, player_id in ((one, "alice"), (other, "bob")):
            seat = ok(await seat_player(service, partner.test, player_id, "the-same"))
            assert seat["status"] == "waiting"
            check_refusal(
                await service.public.call("GET", f"/partner/seats/{seat['seatId']}", one.live),
                404,
                "seat_not_found",
            )
        seat = ok(await seat_player(service, one.test, "carol", "c"))
        assert seat["status"] == "matched"
        path = f"/partner/matches/{seat['matchId']}"
        for key in (one.live, other.test):
            check_refusal(await service.public.call("GET", path, key), 404, "match_not_found")
        check_refusal(
            await service.public.call(
                "POST",
                f"/partner/test/matches/{seat['matchId']}/decide",
                other.test,
                {"outcome": "no_contest"},
            ),
            404,
            "match_not_found",
        )


async def test_a_draw_and_a_no_contest_give_both_stakes_back(place: Place) -> None:
    async with in_process(place) as service:
        key = (await service.partner()).test
        decisions: tuple[dict[str, object], ...] = (
            {"outcome": "ended", "winnerPlayerId": None},
            {"outcome": "no_contest"},
        )
        for number, decision in enumerate(decisions):
            ok(await seat_player(service, key, "alice", f"a{number}"))
            match_id = ok(await seat_player(service, key, "bob", f"b{number}"))["matchId"]
            record = ok(
                await service.public.call(
                    "POST", f"/partner/test/matches/{match_id}/decide", key, decision
                )
            )
            assert record["status"] == decision["outcome"]
            assert [seat.get("result") for seat in record["seats"]] == (
                ["drawn"] * 2 if number == 0 else [None] * 2
            )
        cursor: str | None = None
        rows: dict[str, dict[str, object]] = {}
        with trio.fail_after(PATIENCE_S):
            while len([row for row in rows.values() if "refundUsdCents" in row]) < 4:
                page = ok(await read_feed(service.public, key, cursor, wait_s=5))
                cursor = page["nextCursor"]
                rows.update({row["seatId"]: row for row in page["results"]})
        assert {
            (row["payoutUsdCents"], row["refundUsdCents"], row["rakeUsdCents"])
            for row in rows.values()
        } == {(0, 100, 0)}
        for row in rows.values():
            assert (
                ok(await service.public.call("GET", f"/partner/seats/{row['seatId']}", key))[
                    "stakeStatus"
                ]
                == "refunded"
            )


async def test_the_feed_is_paged_without_missing_or_repeating_a_row(place: Place) -> None:
    async with in_process(place) as service:
        key = (await service.partner()).test
        for number in range(3):
            ok(await seat_player(service, key, "alice", f"a{number}"))
            ok(await seat_player(service, key, "bob", f"b{number}"))
        cursor, rows, more = "", [], []
        while True:
            page = ok(await service.public.call("GET", f"/partner/results?limit=4{cursor}", key))
            rows += page["results"]
            more.append(page["hasMore"])
            cursor = f"&cursor={page['nextCursor']}"
            if not page["results"]:
                break
        assert more == [True, False, False]
        assert len({row["seatId"] for row in rows}) == len(rows) == 6


async def test_a_cursor_of_an_unchanged_feed_still_works_later(place: Place) -> None:
    async with in_process(place) as service:
        key = (await service.partner()).test
        cursor = ok(await read_feed(service.public, key))["nextCursor"]
        assert ok(await read_feed(service.public, key, cursor))["nextCursor"] == cursor
        ok(await seat_player(service, key, "alice", "a", tierId=BRONZE))
        ok(await seat_player(service, key, "bob", "b"))
        assert len(ok(await read_feed(service.public, key, cursor))["results"]) == 2


async def test_the_cursor_of_an_empty_last_page_continues_from_the_end(
    place: Place,
) -> None:
    async with in_process(place) as service:
        key = (await service.partner()).test
        for name in ("alice", "bob"):
            ok(await seat_player(service, key, name, name))
        end = ok(await read_feed(service.public, key))["nextCursor"]
        for wait_s in (0, 1):
            empty = ok(await read_feed(service.public, key, end, wait_s=wait_s))
            assert (empty["results"], empty["hasMore"], empty["nextCursor"]) == ([], False, end)
        for name in ("carol", "dave"):
            ok(await seat_player(service, key, name, name))
        assert {
            row["playerId"] for row in ok(await read_feed(service.public, key, end))["results"]
        } == {"carol", "dave"}
