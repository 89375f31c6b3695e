"""A match from its session tokens to its payout, over real sockets."""

from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import pytest
import trio

from pgs.actors.messages.account.keys import RevokeKey
from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.actors.ports import ChargeAnswer
from pgs.domain.members import PLATFORM
from pgs.domain.payouts import Payout
from pgs.domain.seats import Seat
from pgs.http.partner import results
from tests.journeys.client import PATIENCE_S, Client, Reply, check_refusal, ok
from tests.journeys.partners import BOTH, BRONZE, SILVER, Partner, account, seat_body
from tests.journeys.play import mint, socket_of
from tests.journeys.service import Service, in_process, until

ABSENT = {"payoutUsdCents", "refundUsdCents", "rakeUsdCents"}


class HeldPayouts:
    """A settlement that confirms every stake at once, and payouts once `released` is set."""

    instant = True

    def __init__(self) -> None:
        self.released = trio.Event()

    async def charge(self, seat: Seat) -> ChargeAnswer:
        """Return `confirmed`."""
        return "confirmed"

    async def pay(self, match_id: str, payout: Payout) -> ChargeAnswer:
        """Return `confirmed`, once `released` is set."""
        await self.released.wait()
        return "confirmed"


async def _feed(client: Client, key: str, cursor: str | None = None, wait_s: int = 0) -> Reply:
    query = [f"waitSeconds={wait_s}"] + ([f"cursor={cursor}"] if cursor is not None else [])
    return await client.call("GET", "/partner/results?" + "&".join(query), key)


async def _seat(
    service: Service, key: str, player_id: str, idempotency_key: str, **fields: object
) -> Reply:
    return await service.public.call(
        "POST", "/partner/matches", key, seat_body(player_id, idempotency_key, **fields)
    )


async def test_two_players_are_launched_paired_decided_and_paid(tmp_path: Path) -> None:
    payouts = HeldPayouts()
    async with in_process(tmp_path, settlement=payouts) as service:
        partner = await service.partner()
        key = partner.test
        for player_id in ("alice", "bob"):
            session = ok(
                await service.public.call(
                    "POST", "/partner/sessions", key, {"gameId": BOTH, "playerId": player_id}
                )
            )
            assert session["playerUid"] == f"ptr:test:acme:{player_id}"
            assert session["expiresAt"] - session["issuedAt"] == 3600
            assert session["resume"] == []
        begin = ok(await _feed(service.public, key))
        assert (begin["results"], begin["hasMore"]) == ([], False)

        first = ok(await _seat(service, key, "alice", "a-1", partnerRef="order 7"))
        assert (first["status"], first["matchId"], first["stakeStatus"]) == (
            "waiting",
            None,
            "confirmed",
        )
        assert first["expiresAt"] - first["seatedAt"] == 3600
        assert (first["stakeUsdCents"], first["prizeUsdCents"], first["partnerRef"]) == (
            100,
            180,
            "order 7",
        )
        assert ok(await _feed(service.public, key, begin["nextCursor"]))["results"] == []
        second = ok(await _seat(service, key, "bob", "b-1"))
        assert second["status"] == "matched"
        assert second["matchId"].startswith("mat_")
        match_id = second["matchId"]
        assert "pairing" not in second
        shown = ok(await service.public.call("GET", f"/partner/seats/{first['seatId']}", key))
        assert (shown["matchId"], shown["status"], shown["pairing"]["rule"]) == (
            match_id,
            "matched",
            "test.v1",
        )
        session = ok(
            await service.public.call(
                "POST", "/partner/sessions", key, {"gameId": BOTH, "playerId": "alice"}
            )
        )
        assert session["resume"] == [{"matchId": match_id, "status": "started"}]

        started = ok(await _feed(service.public, key, begin["nextCursor"]))
        assert {row["playerId"]: row["opponentPlayerId"] for row in started["results"]} == {
            "alice": "bob",
            "bob": "alice",
        }
        for row in started["results"]:
            assert (row["outcome"], row["matchId"]) == ("started", match_id)
            assert not row.keys() & (ABSENT | {"result", "endReason", "endedAt"})
        assert [row.get("partnerRef") for row in started["results"]] == ["order 7", None]

        decide = f"/partner/test/matches/{match_id}/decide"
        record = ok(
            await service.public.call(
                "POST", decide, key, {"outcome": "ended", "winnerPlayerId": "bob"}
            )
        )
        assert (record["status"], record["endReason"], record["prizeUsdCents"]) == (
            "ended",
            "decided_by_test_key",
            180,
        )
        assert {seat["playerId"]: seat["result"] for seat in record["seats"]} == {
            "alice": "lost",
            "bob": "won",
        }
        session = ok(
            await service.public.call(
                "POST", "/partner/sessions", key, {"gameId": BOTH, "playerId": "alice"}
            )
        )
        assert session["resume"] == []  # a match that has ended cannot be resumed
        ended = ok(await _feed(service.public, key, started["nextCursor"]))
        assert {row["playerId"]: row["result"] for row in ended["results"]} == {
            "alice": "lost",
            "bob": "won",
        }
        for row in ended["results"]:
            assert (row["outcome"], row["endReason"]) == ("ended", "decided_by_test_key")
            assert not row.keys() & ABSENT

        payouts.released.set()
        paid = ok(await _feed(service.public, key, ended["nextCursor"], wait_s=25))
        rows = {row["playerId"]: row for row in paid["results"]}
        money = {
            name: (row["payoutUsdCents"], row["refundUsdCents"], row["rakeUsdCents"])
            for name, row in rows.items()
        }
        assert money == {"alice": (0, 0, 20), "bob": (180, 0, 0)}
        before = {row["playerId"]: row["revision"] for row in ended["results"]}
        assert all(rows[name]["revision"] > before[name] for name in rows)
        assert ok(await _feed(service.public, key, paid["nextCursor"]))["results"] == []
        whole = ok(await _feed(service.public, key))["results"]
        assert {(row["matchId"], row["playerId"]): row for row in whole} == {
            (match_id, name): row for name, row in rows.items()
        }
        assert record["pairing"].keys() == {"rule", "waitedSeconds", "begins"}
        names = ("payoutUsdCents", "refundUsdCents", "rakeUsdCents")
        record["seats"] = [
            seat | dict(zip(names, money[seat["playerId"]], strict=True))
            for seat in record["seats"]
        ]
        assert ok(await service.public.call("GET", f"/partner/matches/{match_id}", key)) == record


async def test_a_long_poll_is_woken_by_a_commit(tmp_path: Path) -> None:
    async with in_process(tmp_path) as service, trio.open_nursery() as nursery:
        partner = await service.partner()
        ok(await _seat(service, partner.test, "alice", "a"))
        answers: list[Reply] = []

        async def poll() -> None:
            answers.append(await _feed(service.public, partner.test, wait_s=25))

        nursery.start_soon(poll)
        await _until_held(service, partner)
        assert answers == []
        ok(await _seat(service, partner.test, "bob", "b"))
        await until(lambda: bool(answers))
        assert [row["outcome"] for row in ok(answers[0])["results"]] == ["started", "started"]


async def _until_held(service: Service, partner: Partner, polls: int = 1) -> None:
    """Return once `polls` long polls of a partner are held."""
    await until(lambda: service.core.parts.bells._held.get(partner.partner_id, 0) >= polls)


async def test_a_client_that_leaves_its_long_poll_frees_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "WAIT_MAX_S", 600)  # so long that no poll ends by itself
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        async with trio.open_nursery() as polling:
            polling.start_soon(partial(_feed, service.public, partner.test, wait_s=600))
            await _until_held(service, partner)
            polling.cancel_scope.cancel()
        await until(lambda: not service.core.parts.bells._held)


async def test_a_long_poll_without_news_ends_empty_with_a_cursor_to_go_on_from(
    tmp_path: Path,
) -> None:
    async with in_process(tmp_path) as service:
        key = (await service.partner()).test
        begin = trio.current_time()
        page = ok(await _feed(service.public, key, wait_s=1))
        assert trio.current_time() - begin >= 1
        assert (page["results"], page["hasMore"]) == ([], False)
        ok(await _seat(service, key, "alice", "a"))
        ok(await _seat(service, key, "bob", "b"))
        assert len(ok(await _feed(service.public, key, page["nextCursor"]))["results"]) == 2


async def test_a_revoked_key_ends_its_long_poll_with_a_401_without_rate_headers(
    tmp_path: Path,
) -> None:
    async with in_process(tmp_path) as service, trio.open_nursery() as nursery:
        partner = await service.partner()
        answers: list[Reply] = []

        async def poll() -> None:
            answers.append(await _feed(service.public, partner.test, wait_s=25))

        nursery.start_soon(poll)
        await _until_held(service, partner)
        await account(
            service.core, partner.partner_id, RevokeKey(PLATFORM, partner.key_ids["test"])
        )
        await until(lambda: bool(answers))
        check_refusal(answers[0], 401, "invalid_key")


async def test_a_deactivation_ends_long_polls_as_partner_inactive(tmp_path: Path) -> None:
    async with in_process(tmp_path) as service, trio.open_nursery() as nursery:
        partner = await service.partner()
        answers: list[Reply] = []

        async def poll() -> None:
            answers.append(await _feed(service.public, partner.test, wait_s=25))

        nursery.start_soon(poll)
        await _until_held(service, partner)
        await account(service.core, partner.partner_id, SwitchAccount(PLATFORM, False))
        await until(lambda: bool(answers))
        check_refusal(answers[0], 403, "partner_inactive")


async def test_the_33rd_long_poll_of_a_partner_is_answered_at_once(tmp_path: Path) -> None:
    async with in_process(tmp_path) as service, trio.open_nursery() as nursery:
        partner = await service.partner()
        answers: list[Reply] = []

        async def poll() -> None:
            answers.append(await _feed(service.public, partner.test, wait_s=25))

        for _ in range(32):
            nursery.start_soon(poll)
        await _until_held(service, partner, 32)
        with trio.fail_after(10):  # a held call would be answered after 25 s
            assert ok(await _feed(service.public, partner.test, wait_s=25))["results"] == []
        assert answers == []
        ok(await _seat(service, partner.test, "alice", "a"))
        ok(await _seat(service, partner.test, "bob", "b"))
        await until(lambda: len(answers) == 32)
        assert all(len(ok(answer)["results"]) == 2 for answer in answers)


async def test_live_seats_are_paired_in_the_next_wave_and_the_match_records_why(
    tmp_path: Path,
) -> None:
    async with in_process(tmp_path) as service, AsyncExitStack() as stack:
        key = (await service.partner()).live
        first = ok(await _seat(service, key, "alice", "a"))
        assert first["heldBack"] == "player_absent"
        for player in ("alice", "bob"):
            token = await mint(service.public, key, player)
            await stack.enter_async_context(socket_of(service.public.base_url, token))
        other_tier = ok(await _seat(service, key, "carol", "c", tierId=SILVER, stakeUsdCents=150))
        again = ok(await _seat(service, key, "alice", "a2"))
        assert [seat["status"] for seat in (first, other_tier, again)] == [
            "waiting"
        ] * 3  # no player is paired with themselves
        assert first["expiresAt"] - first["seatedAt"] == 300
        third = ok(await _seat(service, key, "bob", "b"))
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


async def test_seats_of_different_environments_are_never_paired(tmp_path: Path) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        live = ok(await _seat(service, partner.live, "alice", "one-key"))
        test = ok(await _seat(service, partner.test, "bob", "one-key"))
        assert (live["status"], test["status"]) == ("waiting", "waiting")
        assert live["seatId"] != test["seatId"]
        check_refusal(
            await service.public.call("GET", f"/partner/seats/{live['seatId']}", partner.test),
            404,
            "seat_not_found",
        )
        ok(await _seat(service, partner.test, "carol", "c"))
        assert ok(await _feed(service.public, partner.live))["results"] == []


async def test_seats_of_different_partners_are_never_paired(tmp_path: Path) -> None:
    async with in_process(tmp_path) as service:
        one, other = await service.partner("acme"), await service.partner("zenith")
        for partner, player_id in ((one, "alice"), (other, "bob")):
            seat = ok(await _seat(service, partner.test, player_id, "the-same"))
            assert seat["status"] == "waiting"
            check_refusal(
                await service.public.call("GET", f"/partner/seats/{seat['seatId']}", one.live),
                404,
                "seat_not_found",
            )
        seat = ok(await _seat(service, one.test, "carol", "c"))
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


async def test_a_draw_and_a_no_contest_give_both_stakes_back(tmp_path: Path) -> None:
    async with in_process(tmp_path) as service:
        key = (await service.partner()).test
        decisions: tuple[dict[str, object], ...] = (
            {"outcome": "ended", "winnerPlayerId": None},
            {"outcome": "no_contest"},
        )
        for number, decision in enumerate(decisions):
            ok(await _seat(service, key, "alice", f"a{number}"))
            match_id = ok(await _seat(service, key, "bob", f"b{number}"))["matchId"]
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
                page = ok(await _feed(service.public, key, cursor, wait_s=5))
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


async def test_the_feed_is_paged_without_missing_or_repeating_a_row(tmp_path: Path) -> None:
    async with in_process(tmp_path) as service:
        key = (await service.partner()).test
        for number in range(3):
            ok(await _seat(service, key, "alice", f"a{number}"))
            ok(await _seat(service, key, "bob", f"b{number}"))
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


async def test_a_cursor_of_an_unchanged_feed_still_works_later(tmp_path: Path) -> None:
    async with in_process(tmp_path) as service:
        key = (await service.partner()).test
        cursor = ok(await _feed(service.public, key))["nextCursor"]
        assert ok(await _feed(service.public, key, cursor))["nextCursor"] == cursor
        ok(await _seat(service, key, "alice", "a", tierId=BRONZE))
        ok(await _seat(service, key, "bob", "b"))
        assert len(ok(await _feed(service.public, key, cursor))["results"]) == 2


async def test_the_cursor_of_an_empty_last_page_continues_from_the_end(
    tmp_path: Path,
) -> None:
    async with in_process(tmp_path) as service:
        key = (await service.partner()).test
        for name in ("alice", "bob"):
            ok(await _seat(service, key, name, name))
        end = ok(await _feed(service.public, key))["nextCursor"]
        for wait_s in (0, 1):
            empty = ok(await _feed(service.public, key, end, wait_s=wait_s))
            assert (empty["results"], empty["hasMore"], empty["nextCursor"]) == ([], False, end)
        for name in ("carol", "dave"):
            ok(await _seat(service, key, name, name))
        assert {
            row["playerId"] for row in ok(await _feed(service.public, key, end))["results"]
        } == {"carol", "dave"}
