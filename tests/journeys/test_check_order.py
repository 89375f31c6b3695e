"""The order of checks: a request that is wrong in two ways gets the refusal of the earlier check.

Each row fails two neighbouring checks at once. Other tests show that each of the two faults is
refused by itself.
"""

import pytest

from tests.journeys.client import Reply, SyncClient, check_refusal, ok
from tests.journeys.partners import LIVE_ONLY, LOCKED, SILVER, Partner, seat_body
from tests.journeys.places import Place
from tests.journeys.seats import RemoteSettlement
from tests.journeys.service import SharedService, in_process
from tests.journeys.two_faults import ROWS, SEAT, Wrong


def _call(client: SyncClient, wrong: Wrong, key: str) -> Reply:
    if "?" in wrong.path:
        return client.call("GET", wrong.path, key, headers=wrong.headers)
    if wrong.body is None:
        return client.call("POST", wrong.path, key, content=b"{", headers=wrong.headers)
    return client.call("POST", wrong.path, key, dict(wrong.body), headers=wrong.headers)


@pytest.mark.parametrize("wrong", ROWS, ids=[row.name for row in ROWS])
def test_the_first_of_two_faults_is_reported(
    shared: SharedService, live_only: SharedService, wrong: Wrong
) -> None:
    service = live_only if wrong.restricted else shared
    partner = service.partner(terms=wrong.terms, burst=20)
    wrong.arrange(service, partner)
    key = partner.live if wrong.environment == "live" else partner.test
    reply = _call(service.client, wrong, key[:-1] if wrong.spoilt_key else key)
    status, reason = wrong.expected
    check_refusal(reply, status, reason, **wrong.extras)
    if wrong.names:
        assert f"`{wrong.names}`" in reply.json["error"]


def test_the_idempotency_key_is_looked_up_before_the_tier_and_after_the_licence(
    shared: SharedService,
) -> None:
    partner, client = shared.partner(), shared.client

    def seat(**fields: object) -> Reply:
        return client.call("POST", SEAT, partner.test, seat_body("alice", "used", **fields))

    ok(seat())
    check_refusal(seat(tierId="gold"), 409, "idempotency_key_conflict")
    check_refusal(seat(tierId=LOCKED), 409, "idempotency_key_conflict")
    check_refusal(seat(stakeUsdCents=1), 409, "idempotency_key_conflict")
    check_refusal(seat(gameId=LIVE_ONLY), 403, "game_not_licensed_in_this_environment")
    check_refusal(seat(playerId="!"), 400, "malformed_player_id")
    check_refusal(seat(stakeUsdCents="1"), 400, None)


@pytest.mark.parametrize(
    ("fields", "expected", "terms"),
    [
        ({"tierId": "gold"}, (400, "unknown_tier"), True),
        ({"tierId": LOCKED}, (409, "tier_locked"), True),
        ({}, (403, "rake_terms_not_agreed"), False),
        ({"stakeUsdCents": 99}, (400, "stake_below_floor"), True),
        ({"stakeUsdCents": 181}, (400, "stake_above_prize"), True),
        ({"tierId": SILVER, "stakeUsdCents": 149}, (400, "stake_does_not_match_price"), True),
    ],
)
async def test_refused_calls_never_ask_a_settlement_that_is_down(
    place: Place, fields: dict[str, object], expected: tuple[int, str], terms: bool
) -> None:
    settlement = RemoteSettlement(None)
    async with in_process(place, settlement=settlement) as service:
        partner = await service.partner(terms=terms)
        reply = await service.public.call(
            "POST", SEAT, partner.test, seat_body("alice", "down", **fields)
        )
        assert (reply.status, reply.reason) == expected
        assert settlement.asked == 0
        if terms:
            check_refusal(
                await service.public.call("POST", SEAT, partner.test, seat_body("alice", "down")),
                503,
                "settlement_unavailable",
            )
            assert settlement.asked == 1


def test_tiers_check_the_parameter_then_the_licence(client: SyncClient, known: Partner) -> None:
    check_refusal(
        client.call("GET", "/partner/tiers", known.test),
        400,
        "missing_parameter",
        parameter="gameId",
    )
    check_refusal(
        client.call("GET", f"/partner/tiers?gameId={LIVE_ONLY}", known.test),
        403,
        "game_not_licensed_in_this_environment",
    )
    check_refusal(client.call("GET", "/partner/tiers", "pgs_test_x"), 401, "invalid_key")
