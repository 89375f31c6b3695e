"""A partner's backend with Flask and the Python client.

    PGS_BASE_URL=… PGS_KEY=… PGS_WEBHOOK_SECRET=… flask --app examples/flask_backend.py run

Its page calls /play/session for the frame and /play/seat to buy a seat. The service calls /nudges.
"""

import os
from threading import Event, Thread
from typing import Any

from flask import Flask, request

from pgs_client import Client, InvalidSignature, PgsError, SqliteStore, verify_webhook

client = Client(os.environ["PGS_BASE_URL"], os.environ["PGS_KEY"])
store = SqliteStore(os.environ.get("FEED_FILE", "feed.db"))
secrets = os.environ["PGS_WEBHOOK_SECRET"].split()  # two while a rotation is under way
GAME, TIER, STAKE_USD_CENTS = "tic-tac-toe", "test-bronze", 100
POLL_S = 60  # nudges can be lost, so the feed is read without them, too

app = Flask(__name__)
nudged = Event()


def read_feed() -> None:
    """Read the feed after each nudge, and once in a while."""
    while True:
        nudged.wait(POLL_S)
        nudged.clear()
        try:
            client.catch_up(store)
        except PgsError as error:
            app.logger.warning("the feed cannot be read: %s", error)


Thread(target=read_feed, daemon=True).start()


def signed_in() -> str:
    """Return the signed-in player. Put your own sign-in here: never trust a header."""
    return request.headers["X-Demo-Player"]


@app.errorhandler(PgsError)
def refused(error: PgsError) -> tuple[dict[str, Any], int]:
    """Tell the page whether trying again may help."""
    return {"reason": getattr(error, "reason", None)}, 503 if error.may_pass else 409


@app.post("/play/session")
def mint() -> dict[str, Any]:
    """Return what the frame of the signed-in player needs, and nothing else."""
    session = client.mint(game_id=GAME, player_id=signed_in())
    return {"embedUrl": session.embed_url, "sessionToken": session.session_token}


@app.post("/play/seat/<order>")
def seat(order: str) -> dict[str, Any]:
    """Buy a seat for an order that your shop has stored. A repeated call charges nobody twice."""
    taken = client.seat(
        game_id=GAME,
        player_id=signed_in(),
        tier_id=TIER,
        stake_usd_cents=STAKE_USD_CENTS,
        idempotency_key=order,
    )
    return {"seatId": taken.seat_id, "status": taken.status, "matchId": taken.match_id}


@app.post("/nudges")
def nudge() -> tuple[str, int]:
    """Verify the raw body, answer, and wake the thread that reads the feed."""
    try:
        verify_webhook(secrets, request.headers.get("X-Service-Signature"), request.get_data())
    except InvalidSignature:
        return "", 400
    nudged.set()
    return "", 204


@app.get("/results/<match_id>")
def result(match_id: str) -> dict[str, Any]:
    """Return what the store knows of the player's match."""
    row = store.row(match_id, signed_in())
    return {} if row is None else {"result": row.result, "payoutUsdCents": row.payout_usd_cents}
