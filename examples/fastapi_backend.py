"""A partner's backend with FastAPI and the Python client.

    PGS_BASE_URL=… PGS_KEY=… PGS_WEBHOOK_SECRET=… uvicorn --app-dir examples fastapi_backend:app

Its page calls /play/session for the frame and /play/seat to buy a seat. The service calls /nudges.
"""

import os
from typing import Annotated, Any

from fastapi import BackgroundTasks, Depends, FastAPI, Header, Request, Response
from fastapi.responses import JSONResponse

from pgs_client import Client, InvalidSignature, PgsError, SqliteStore, verify_webhook

client = Client(os.environ["PGS_BASE_URL"], os.environ["PGS_KEY"])
store = SqliteStore(os.environ.get("FEED_FILE", "feed.db"))
secrets = os.environ["PGS_WEBHOOK_SECRET"].split()  # two while a rotation is under way
GAME, TIER, STAKE_USD_CENTS = "tic-tac-toe", "test-bronze", 100

app = FastAPI()


def signed_in(x_demo_player: Annotated[str, Header()]) -> str:
    """Return the signed-in player. Put your own sign-in here: never trust a header."""
    return x_demo_player


Player = Annotated[str, Depends(signed_in)]


@app.exception_handler(PgsError)
def refused(_: Request, error: PgsError) -> JSONResponse:
    """Tell the page whether trying again may help."""
    reason = getattr(error, "reason", None)
    return JSONResponse({"reason": reason}, status_code=503 if error.may_pass else 409)


@app.post("/play/session")
def mint(player: Player) -> dict[str, Any]:
    """Return what the frame of the signed-in player needs, and nothing else."""
    session = client.mint(game_id=GAME, player_id=player)
    return {"embedUrl": session.embed_url, "sessionToken": session.session_token}


@app.post("/play/seat/{order}")
def seat(order: str, player: Player) -> dict[str, Any]:
    """Buy a seat for an order that your shop has stored. A repeated call charges nobody twice."""
    taken = client.seat(
        game_id=GAME,
        player_id=player,
        tier_id=TIER,
        stake_usd_cents=STAKE_USD_CENTS,
        idempotency_key=order,
    )
    return {"seatId": taken.seat_id, "status": taken.status, "matchId": taken.match_id}


@app.post("/nudges")
async def nudge(request: Request, background: BackgroundTasks) -> Response:
    """Verify the raw body, answer, and read the feed afterwards."""
    header = request.headers.get("X-Service-Signature")
    try:
        verify_webhook(secrets, header, await request.body())
    except InvalidSignature:
        return Response(status_code=400)
    background.add_task(client.catch_up, store)
    return Response(status_code=204)


@app.get("/results/{match_id}")
def result(match_id: str, player: Player) -> dict[str, Any]:
    """Return what the store knows of the player's match."""
    row = store.row(match_id, player)
    return {} if row is None else {"result": row.result, "payoutUsdCents": row.payout_usd_cents}
