"""Makes seats, matches and accounts. A test names only the fields that it is about."""

from typing import Any

import msgspec

from pgs.domain.accounts import Account
from pgs.domain.matches import Match, MatchWithSeats, start
from pgs.domain.seats import Seat, confirm


def seat(number: int, **changes: Any) -> Seat:
    """Return a waiting test seat of `acme`. `changes` replace fields."""
    made = Seat(
        partner_id="acme",
        environment="test",
        seat_id=f"sea_{number:03}",
        seq=number,
        idempotency_key=f"k{number}",
        player_id=f"p{number}",
        game_id="reversi",
        tier_id="bronze",
        tier_revision=1,
        sent_usd_cents=120,
        stake_usd_cents=100,
        prize_usd_cents=180,
        partner_ref=None,
        status="waiting",
        stake_status="confirmed",
        seated_at=50,
    )
    return msgspec.structs.replace(made, **changes)


def match(match_id: str, **changes: Any) -> Match:
    """Return a running test match of `acme`. `changes` replace fields."""
    return msgspec.structs.replace(
        Match("acme", "test", match_id, "reversi", "bronze", 1, 180, "started", started_at=60),
        **changes,
    )


def pending_seat(number: int, **changes: Any) -> Seat:
    """Return a test seat of `acme` whose stake is pending. `changes` replace fields."""
    return seat(number, **{"status": "pending", "stake_status": "pending", **changes})


def running_match(stakes: tuple[int, int] = (100, 100), prize: int = 180) -> MatchWithSeats:
    """Return the running match `mat_1` of `p1` and `p2`. Stakes and prize are in US cents."""
    older, newer = (
        confirm(pending_seat(number, stake_usd_cents=stake, prize_usd_cents=prize), 60)
        for number, stake in enumerate(stakes, start=1)
    )
    return start(older, newer, "mat_1", "{}", 70)


def account(partner_id: str = "acme", **changes: Any) -> Account:
    """Return an account without keys, licences, origins or prices. `changes` replace fields.

    Its pins and its generations differ between test and live.
    """
    made = Account(
        partner_id=partner_id,
        name="Acme",
        active=True,
        switched_off_by=None,
        revision=1,
        burst=None,
        rate=None,
        pins={"test": 1, "live": 2},
        generations={"test": 3, "live": 4},
        admin_domain=None,
        agreed_terms_version=None,
        agreed_terms_at=None,
        event_seq=1,
        created_at=10,
        keys=(),
        licences={},
        origins={"test": (), "live": ()},
        prices={"test": {}, "live": {}},
    )
    return msgspec.structs.replace(made, **changes)
