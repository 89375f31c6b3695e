"""A seat, a match and an account: a test names only the fields that it is about."""

from typing import Any

import msgspec

from pgs.domain.accounts import Account
from pgs.domain.seats import Match, Seat


def seat(number: int, **changes: Any) -> Seat:
    """Return acme's seat of a number, which waits in test, with fields of a test's own."""
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
    """Return acme's match of two such seats, running, with fields of a test's own."""
    return msgspec.structs.replace(
        Match("acme", "test", match_id, "reversi", "bronze", 1, 180, "started", started_at=60),
        **changes,
    )


def account(partner_id: str = "acme", **changes: Any) -> Account:
    """Return an empty account, with fields of a test's own. Test and live differ where they can."""
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
