"""Shell lines that repeat the demo story's calls with curl."""

import json
import shlex
from typing import Any

from pgs.demo.backend import Exchange
from pgs.demo.partner import FLOOR_USD_CENTS, GAME, TEST_TIER
from pgs.demo.story import FIRST, SECOND

KEY_LINE = (
    'KEY=$(python3 -c \'import json; print(json.load(open("demo-data/demo.json"))["testKey"])\')'
)
"""A shell line that reads the demo's test key into $KEY. It works in the folder in which the demo
was started, unless `--data` named another data folder."""


def curl_line(base_url: str, exchange: Exchange) -> str:
    """Return a line that repeats a call, with $KEY in the place of the key."""
    body = [] if exchange.sent is None else ["-d", json.dumps(exchange.sent)]
    words = shlex.join([*body, base_url + exchange.path])
    return f'curl -s -H "Authorization: Bearer $KEY" {words}'


def paste_lines(base_url: str, key: str, order: str, since: int) -> list[tuple[str, str]]:
    """Return pairs: what a line does, and the line. The idempotency keys begin with `order`.

    The feed is read from `since` on, in epoch seconds.
    """

    def curl(path: str, body: dict[str, Any] | None = None) -> str:
        words = [
            "curl",
            "-s",
            "-H",
            f"Authorization: Bearer {key}",
            *([] if body is None else ["-d", json.dumps(body)]),
        ]
        return f'{shlex.join(words)} "{base_url}{path}"'

    def seat(player: str, stake_usd_cents: int = FLOOR_USD_CENTS, name: str = order) -> str:
        body = {
            "playerId": player,
            "gameId": GAME,
            "tierId": TEST_TIER,
            "stakeUsdCents": stake_usd_cents,
        }
        return curl("/partner/matches", {**body, "idempotencyKey": f"{name}-{player}"})

    feed = curl(f"/partner/results?since={since}")
    decide = curl(
        "/partner/test/matches/$MATCH/decide", {"outcome": "ended", "winnerPlayerId": FIRST}
    )
    return [
        ("Whose key is this?", curl("/partner/me")),
        ("What does a seat cost?", curl("/partner/tiers?gameId=" + GAME)),
        (
            "A session for a player's frame",
            curl("/partner/sessions", {"gameId": GAME, "playerId": FIRST}),
        ),
        ("A seat that waits; paste it twice to see a replay", seat(FIRST)),
        (
            "A seat that is matched; its match is kept in $MATCH",
            f"MATCH=$({seat(SECOND)} | tee /dev/stderr | {_picked('matchId')})",
        ),
        ("The match, and why these two", curl("/partner/matches/$MATCH")),
        (
            "The feed since the demo's start; where it ends is kept in $CURSOR",
            f"CURSOR=$({feed} | tee /dev/stderr | {_picked('nextCursor')})",
        ),
        ("The first player wins", decide),
        (
            "What is new since then; paste it again a moment later to see the money",
            curl("/partner/results?cursor=$CURSOR&waitSeconds=20"),
        ),
        ("A refusal", seat(SECOND, 1, f"{order}-refused")),
    ]


def _picked(field: str) -> str:
    """Return a filter that prints the text of one field of an answer."""
    return rf"""sed 's/.*"{field}":"\([^"]*\)".*/\1/'"""
