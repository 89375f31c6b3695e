"""A match from its session tokens to its payout, over real sockets."""

from pathlib import Path

import trio

from pgs.actors.ports import ChargeAnswer
from pgs.domain.payouts import Payout
from pgs.domain.seats import Seat
from tests.journeys.client import ok
from tests.journeys.launching import read_feed, seat_player
from tests.journeys.partners import BOTH
from tests.journeys.service import in_process

ABSENT = {"payoutUsdCents", "refundUsdCents", "rakeUsdCents"}


class HeldPayouts:
    """A settlement that confirms every stake at once, but no payout before `released` is set."""

    instant = True

    def __init__(self) -> None:
        self.released = trio.Event()

    async def charge(self, seat: Seat) -> ChargeAnswer:
        """Return `confirmed`."""
        return "confirmed"

    async def pay(self, match_id: str, payout: Payout) -> ChargeAnswer:
        """Wait until `released` is set, then return `confirmed`."""
        await self.released.wait()
        return "confirmed"


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
        begin = ok(await read_feed(service.public, key))
        assert (begin["results"], begin["hasMore"]) == ([], False)

        first = ok(await seat_player(service, key, "alice", "a-1", partnerRef="order 7"))
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
        assert ok(await read_feed(service.public, key, begin["nextCursor"]))["results"] == []
        second = ok(await seat_player(service, key, "bob", "b-1"))
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

        started = ok(await read_feed(service.public, key, begin["nextCursor"]))
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
        ended = ok(await read_feed(service.public, key, started["nextCursor"]))
        assert {row["playerId"]: row["result"] for row in ended["results"]} == {
            "alice": "lost",
            "bob": "won",
        }
        for row in ended["results"]:
            assert (row["outcome"], row["endReason"]) == ("ended", "decided_by_test_key")
            assert not row.keys() & ABSENT

        payouts.released.set()
        paid = ok(await read_feed(service.public, key, ended["nextCursor"], wait_s=25))
        rows = {row["playerId"]: row for row in paid["results"]}
        money = {
            name: (row["payoutUsdCents"], row["refundUsdCents"], row["rakeUsdCents"])
            for name, row in rows.items()
        }
        assert money == {"alice": (0, 0, 20), "bob": (180, 0, 0)}
        before = {row["playerId"]: row["revision"] for row in ended["results"]}
        assert all(rows[name]["revision"] > before[name] for name in rows)
        assert ok(await read_feed(service.public, key, paid["nextCursor"]))["results"] == []
        whole = ok(await read_feed(service.public, key))["results"]
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
