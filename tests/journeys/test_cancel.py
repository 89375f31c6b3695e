"""A partner takes a waiting seat back: its stake is refunded, and the feed says so."""

from tests.journeys.client import Reply, SyncClient, check_refusal, ok
from tests.journeys.partners import Partner, seat_body
from tests.journeys.places import Place
from tests.journeys.service import SharedService, in_process, until


def _cancel(client: SyncClient, key: str, seat_id: str) -> Reply:
    return client.call("POST", f"/partner/seats/{seat_id}/cancel", key)


def test_a_cancelled_seat_is_refunded_and_never_paired(
    client: SyncClient, partner: Partner
) -> None:
    seat = ok(client.call("POST", "/partner/matches", partner.test, seat_body("ann", "a")))
    cancelled = ok(_cancel(client, partner.test, seat["seatId"]))
    assert (cancelled["seatId"], cancelled["status"]) == (seat["seatId"], "no_contest")
    later = ok(client.call("POST", "/partner/matches", partner.test, seat_body("bob", "b")))
    assert later["status"] == "waiting"
    feed = ok(client.call("GET", "/partner/results?waitSeconds=5", partner.test))["results"]
    (row,) = [row for row in feed if row["seatId"] == seat["seatId"]]
    assert (row["outcome"], row["endReason"], row["playerId"]) == ("no_contest", "cancelled", "ann")
    match = ok(client.call("GET", f"/partner/matches/{cancelled['matchId']}", partner.test))
    assert (match["status"], match["endReason"]) == ("no_contest", "cancelled")


def test_cancelling_again_returns_the_same_seat(client: SyncClient, partner: Partner) -> None:
    seat = ok(client.call("POST", "/partner/matches", partner.test, seat_body("ann", "a")))
    first = ok(_cancel(client, partner.test, seat["seatId"]))
    again = ok(_cancel(client, partner.test, seat["seatId"]))
    names = ("seatId", "matchId", "status")
    assert [again[name] for name in names] == [first[name] for name in names]


def test_a_seat_that_does_not_wait_cannot_be_cancelled(
    client: SyncClient, partner: Partner
) -> None:
    call = client.call
    ok(call("POST", "/partner/matches", partner.test, seat_body("ann", "a")))
    seat = ok(call("POST", "/partner/matches", partner.test, seat_body("bob", "b")))
    refused = _cancel(client, partner.test, seat["seatId"])
    assert (refused.status, refused.reason) == (409, "seat_not_waiting")
    assert refused.json["status"] == "matched"
    decided = {"outcome": "ended", "winnerPlayerId": "ann"}
    ok(call("POST", f"/partner/test/matches/{seat['matchId']}/decide", partner.test, decided))
    refused = _cancel(client, partner.test, seat["seatId"])
    assert (refused.reason, refused.json["status"]) == ("seat_not_waiting", "ended")


def test_a_seat_of_another_environment_or_partner_is_not_found(
    shared: SharedService, client: SyncClient, partner: Partner
) -> None:
    seat = ok(client.call("POST", "/partner/matches", partner.test, seat_body("ann", "a")))
    for key in (partner.live, shared.partner().test):
        check_refusal(_cancel(client, key, seat["seatId"]), 404, "seat_not_found")
    check_refusal(_cancel(client, partner.test, "sea_unknown"), 404, "seat_not_found")


async def test_the_money_of_a_cancelled_seat_is_recorded(place: Place) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        call = service.public.call
        seat = ok(await call("POST", "/partner/matches", partner.live, seat_body("ann", "a")))
        ok(await call("POST", f"/partner/seats/{seat['seatId']}/cancel", partner.live))

        async def is_refunded() -> bool:
            shown = ok(await call("GET", f"/partner/seats/{seat['seatId']}", partner.live))
            return bool(shown["stakeStatus"] == "refunded")

        await until(is_refunded)
