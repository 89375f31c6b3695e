"""A match from its session tokens to its payout, over real sockets."""

from typing import Any

import trio

from pgs.actors.ports import ChargeAnswer
from pgs.domain.payouts import Payout
from pgs.domain.seats import Seat
from tests.journeys.client import ok
from tests.journeys.launching import read_feed, seat_player
from tests.journeys.partners import BOTH
from tests.journeys.places import Place
from tests.journeys.service import Service, in_process

Json = dict[str, Any]

ABSENT = {"payoutUsdCents", "refundUsdCents", "rakeUsdCents"}
RESULTS = {"alice": "lost", "bob": "won"}


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


async def test_two_players_are_launched_paired_decided_and_paid(place: Place) -> None:
    payouts = HeldPayouts()
    async with in_process(place, settlement=payouts) as service:
        key = (await service.partner()).test
        for player_id in ("alice", "bob"):
            session = await mint(service, key, player_id)
            assert session["playerUid"] == f"ptr:test:acme:{player_id}"
            assert session["expiresAt"] - session["issuedAt"] == 3600
            assert session["resume"] == []
        begin = ok(await read_feed(service.public, key))
        assert (begin["results"], begin["hasMore"]) == ([], False)

        match_id = await seat_both(service, key, begin["nextCursor"])
        started = await check_start(service, key, match_id, begin["nextCursor"])
        record = await decide_for_bob(service, key, match_id)
        ended = await check_end(service, key, started["nextCursor"])
        payouts.released.set()
        await check_money(service, key, record, ended)


async def mint(service: Service, key: str, player_id: str) -> Json:
    body = {"gameId": BOTH, "playerId": player_id}
    session: Json = ok(await service.public.call("POST", "/partner/sessions", key, body))
    return session


async def seat_both(service: Service, key: str, cursor: str) -> str:
    """Seat alice, who waits, and bob, who is paired with her. Return the match's id."""
    first = ok(await seat_player(service, key, "alice", "a-1", partnerRef="order 7"))
    expected: Json = {"status": "waiting", "matchId": None, "stakeStatus": "confirmed"}
    expected |= {"stakeUsdCents": 100, "prizeUsdCents": 180, "partnerRef": "order 7"}
    assert expected.items() <= first.items()
    assert first["expiresAt"] - first["seatedAt"] == 3600
    assert ok(await read_feed(service.public, key, cursor))["results"] == []
    second = ok(await seat_player(service, key, "bob", "b-1"))
    assert second["status"] == "matched"
    assert second["matchId"].startswith("mat_")
    assert "pairing" not in second
    shown = ok(await service.public.call("GET", f"/partner/seats/{first['seatId']}", key))
    assert (shown["matchId"], shown["status"], shown["pairing"]["rule"]) == (
        second["matchId"],
        "matched",
        "test.v1",
    )
    return str(second["matchId"])


async def check_start(service: Service, key: str, match_id: str, cursor: str) -> Json:
    """Check that alice can resume and that the feed has the start. Return the feed's page."""
    session = await mint(service, key, "alice")
    assert session["resume"] == [{"matchId": match_id, "status": "started"}]
    started: Json = ok(await read_feed(service.public, key, cursor))
    assert {row["playerId"]: row["opponentPlayerId"] for row in started["results"]} == {
        "alice": "bob",
        "bob": "alice",
    }
    for row in started["results"]:
        assert (row["outcome"], row["matchId"]) == ("started", match_id)
        assert not row.keys() & (ABSENT | {"result", "endReason", "endedAt"})
    assert [row.get("partnerRef") for row in started["results"]] == ["order 7", None]
    return started


async def decide_for_bob(service: Service, key: str, match_id: str) -> Json:
    """Let bob win. Return the match's record."""
    decide = f"/partner/test/matches/{match_id}/decide"
    body = {"outcome": "ended", "winnerPlayerId": "bob"}
    record: Json = ok(await service.public.call("POST", decide, key, body))
    assert (record["status"], record["endReason"], record["prizeUsdCents"]) == (
        "ended",
        "decided_by_test_key",
        180,
    )
    assert {seat["playerId"]: seat["result"] for seat in record["seats"]} == RESULTS
    assert record["pairing"].keys() == {"rule", "waitedSeconds", "begins"}
    return record


async def check_end(service: Service, key: str, cursor: str) -> Json:
    """Check that nothing can be resumed and that the feed has the end. Return the feed's page."""
    assert (await mint(service, key, "alice"))["resume"] == []
    ended: Json = ok(await read_feed(service.public, key, cursor))
    assert {row["playerId"]: row["result"] for row in ended["results"]} == RESULTS
    for row in ended["results"]:
        assert (row["outcome"], row["endReason"]) == ("ended", "decided_by_test_key")
        assert not row.keys() & ABSENT
    return ended


async def check_money(service: Service, key: str, record: Json, ended: Json) -> None:
    """Check that the money is in the feed's new rows, which replace the old, and in the record."""
    paid = ok(await read_feed(service.public, key, ended["nextCursor"], wait_s=25))
    rows = {row["playerId"]: row for row in paid["results"]}
    names = ("payoutUsdCents", "refundUsdCents", "rakeUsdCents")
    money = {player: tuple(row[name] for name in names) for player, row in rows.items()}
    assert money == {"alice": (0, 0, 20), "bob": (180, 0, 0)}
    before = {row["playerId"]: row["revision"] for row in ended["results"]}
    assert all(rows[player]["revision"] > before[player] for player in rows)
    assert ok(await read_feed(service.public, key, paid["nextCursor"]))["results"] == []
    match_id = record["matchId"]
    whole = ok(await read_feed(service.public, key))["results"]
    assert {(row["matchId"], row["playerId"]): row for row in whole} == {
        (match_id, player): row for player, row in rows.items()
    }
    record["seats"] = [
        seat | dict(zip(names, money[seat["playerId"]], strict=True)) for seat in record["seats"]
    ]
    assert ok(await service.public.call("GET", f"/partner/matches/{match_id}", key)) == record
