import msgspec
import pytest

from pgs.domain import seats as rules
from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.seats import SeatRequest
from pgs.domain.tiers import SeatPrice
from tests.making import pending_seat


def new_seat(environment: Environment, settlement: rules.SettlementSide) -> rules.Seat:
    return rules.new_seat(
        SeatRequest("p1", "reversi", "bronze", 120, "k1", "order 7"),
        SeatPrice(tier_revision=3, stake_usd_cents=100, prize_usd_cents=180),
        partner_id="acme",
        environment=environment,
        seat_id="sea_1",
        seq=9,
        now=50,
        settlement=settlement,
    )


def test_a_new_seat_has_the_sent_and_the_charged_stake_and_is_pending() -> None:
    seat = new_seat("live", "remote")
    assert (seat.partner_id, seat.environment, seat.seat_id, seat.seq) == (
        "acme",
        "live",
        "sea_1",
        9,
    )
    assert (seat.player_id, seat.game_id, seat.tier_id) == ("p1", "reversi", "bronze")
    assert (seat.idempotency_key, seat.partner_ref) == ("k1", "order 7")
    assert (seat.tier_revision, seat.sent_usd_cents) == (3, 120)
    assert (seat.stake_usd_cents, seat.prize_usd_cents) == (100, 180)
    assert (seat.status, seat.stake_status) == ("pending", "pending")
    assert (seat.seated_at, seat.due_at, seat.updated_at) == (50, 55, 50)
    assert (seat.settlement, seat.confirmed_at, seat.expires_at) == ("remote", None, None)


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_embedded_settlement_confirms_a_new_seat_at_once(environment: Environment) -> None:
    pending = new_seat(environment, "remote")
    confirmed = msgspec.structs.replace(rules.confirm(pending, 50), settlement="embedded")
    assert new_seat(environment, "embedded") == confirmed


@pytest.mark.parametrize(("environment", "wait_s"), [("live", 300), ("test", 3600)])
def test_the_wait_of_a_seat_begins_when_its_stake_is_confirmed(
    environment: Environment, wait_s: int
) -> None:
    was = pending_seat(1, environment=environment)
    confirmed = rules.confirm(was, 1000)
    assert confirmed == msgspec.structs.replace(
        was,
        status="waiting",
        stake_status="confirmed",
        confirmed_at=1000,
        expires_at=1000 + wait_s,
        due_at=1000 + wait_s,
        updated_at=1000,
    )


def test_a_seat_whose_stake_was_declined_is_never_due() -> None:
    was = pending_seat(1, due_at=99)
    assert rules.decline(was, 60) == msgspec.structs.replace(
        was, status="declined", stake_status="declined", due_at=None, updated_at=60
    )


def test_a_row_is_due_from_its_time_on() -> None:
    assert [rules.is_due(70, now) for now in (69, 70, 71)] == [False, True, True]
    assert not rules.is_due(None, 70)


def test_every_environment_has_a_waiting_time() -> None:
    assert set(rules.WAIT_S) == set(ENVIRONMENTS)
