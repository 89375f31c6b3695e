"""Decided matches, and what ends and keeps running when a licence or a tier changes."""

import time
from typing import Any
from unittest import mock

import pytest

from pgs.actors.messages.account.settings import ChangeLicence
from pgs.actors.messages.catalogue import SetTier
from pgs.actors.shared.presence import PresenceRegister
from pgs.domain.licences import Step
from pgs.domain.members import PLATFORM
from tests.journeys.client import Reply, SyncClient, check_refusal, ok
from tests.journeys.partners import (
    BOTH,
    Partner,
)
from tests.journeys.seats import take_seat
from tests.journeys.service import Service, SharedService


def _decide(client: SyncClient, key: str, match_id: str, body: object) -> Reply:
    return client.call("POST", f"/partner/test/matches/{match_id}/decide", key, body)


def _match(client: SyncClient, key: str) -> str:
    with mock.patch.object(PresenceRegister, "is_here", return_value=True):
        ok(take_seat(client, key, "alice", "a"))
        seat = ok(take_seat(client, key, "bob", "b"))
        for _ in range(600):
            if seat["matchId"] is not None:
                break
            time.sleep(0.05)  # live seats are paired once a second
            seat = ok(client.call("GET", f"/partner/seats/{seat['seatId']}", key))
    return str(seat["matchId"])


WON: dict[str, object] = {"outcome": "ended", "winnerPlayerId": "alice"}


LOST: dict[str, object] = {"outcome": "ended", "winnerPlayerId": "bob"}


DRAWN: dict[str, object] = {"outcome": "ended", "winnerPlayerId": None}


VOID: dict[str, object] = {"outcome": "no_contest"}


@pytest.mark.parametrize("decision", [WON, LOST, DRAWN, VOID])
def test_a_decided_match_accepts_the_same_decision_again_but_no_other(
    client: SyncClient, partner: Partner, decision: dict[str, object]
) -> None:
    match_id = _match(client, partner.test)
    first = _without_money(ok(_decide(client, partner.test, match_id, decision)))
    assert _without_money(ok(_decide(client, partner.test, match_id, decision))) == first
    for other in (WON, LOST, DRAWN, VOID):
        if other != decision:
            check_refusal(
                _decide(client, partner.test, match_id, other), 409, "match_already_decided"
            )
    read = ok(client.call("GET", f"/partner/matches/{match_id}", partner.test))
    assert _without_money(read) == first


def _without_money(match: dict[str, Any]) -> dict[str, Any]:
    """Return a match record without what is recorded a moment after its end."""
    money = ("payoutUsdCents", "refundUsdCents", "rakeUsdCents")
    seats = [
        {name: value for name, value in seat.items() if name not in money}
        for seat in match["seats"]
    ]
    return match | {"seats": seats}


def test_a_winner_without_a_seat_in_the_match_is_a_plain_400(
    client: SyncClient, partner: Partner
) -> None:
    match_id = _match(client, partner.test)
    for winner in ("carol", "", "Alice"):
        check_refusal(
            _decide(client, partner.test, match_id, {"outcome": "ended", "winnerPlayerId": winner}),
            400,
            None,
        )
    assert (
        ok(client.call("GET", f"/partner/matches/{match_id}", partner.test))["status"] == "started"
    )


def test_only_test_keys_may_decide_matches(client: SyncClient, partner: Partner) -> None:
    check_refusal(
        _decide(client, partner.live, _match(client, partner.live), WON), 403, "test_key_required"
    )
    check_refusal(
        _decide(client, partner.live, _match(client, partner.test), WON), 403, "test_key_required"
    )


def test_a_live_match_is_not_found_by_a_test_key(client: SyncClient, partner: Partner) -> None:
    check_refusal(
        _decide(client, partner.test, _match(client, partner.live), WON), 404, "match_not_found"
    )


@pytest.mark.parametrize("step", ["test_off", "withdraw"])
def test_a_licence_that_ends_stops_new_seats_but_running_matches_continue(
    shared: SharedService, step: Step
) -> None:
    partner = shared.partner()
    key = partner.test if step == "test_off" else partner.live
    match_id = _match(shared.client, key)
    shared.account(partner, ChangeLicence(PLATFORM, BOTH, step))
    reply = take_seat(shared.client, key, "carol", "c")
    check_refusal(reply, 403, "game_not_licensed_in_this_environment")
    assert ok(shared.client.call("GET", f"/partner/matches/{match_id}", key))["status"] == "started"


def test_seats_of_two_revisions_of_a_tier_are_never_paired(shared: SharedService) -> None:
    partner, client = shared.partner(), shared.client

    def revise(floor: int, prize: int) -> None:
        shared.do(Service.set_tier, SetTier("test", "revised", None, floor, prize))

    revise(100, 180)
    old = ok(take_seat(client, partner.test, "alice", "a", tierId="revised"))
    revise(110, 200)
    new = ok(take_seat(client, partner.test, "bob", "b", tierId="revised", stakeUsdCents=110))
    assert (old["status"], new["status"], old["prizeUsdCents"], new["prizeUsdCents"]) == (
        "waiting",
        "waiting",
        180,
        200,
    )
    revise(100, 180)
    assert (
        ok(take_seat(client, partner.test, "carol", "c", tierId="revised"))["status"] == "waiting"
    )
    # Restore the tier for later tests.
    revise(1, 180)
