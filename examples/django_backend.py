"""A partner's backend with Django and the Python client, in one file.

    PGS_BASE_URL=… PGS_KEY=… PGS_WEBHOOK_SECRET=… \\
        python3 examples/django_backend.py runserver --noreload 8080

Its page calls /play/session for the frame and /play/seat to buy a seat. The service calls /nudges.
"""

import os
import sys
from collections.abc import Callable

from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from pgs_client import Client, InvalidSignature, PgsError, SqliteStore, verify_webhook

client = Client(os.environ["PGS_BASE_URL"], os.environ["PGS_KEY"])
store = SqliteStore(os.environ.get("FEED_FILE", "feed.db"))
secrets = os.environ["PGS_WEBHOOK_SECRET"].split()  # two while a rotation is under way
GAME, TIER, STAKE_USD_CENTS = "tic-tac-toe", "test-bronze", 100

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"], ROOT_URLCONF=__name__, MIDDLEWARE=[f"{__name__}.tell_refusals"]
)


class tell_refusals:  # noqa: N801  Django names middleware like functions
    """Tells the page whether trying again may help."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, _: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return an answer for the page if a call of the service has failed, else None."""
        if not isinstance(error, PgsError):
            return None
        reason = getattr(error, "reason", None)
        return JsonResponse({"reason": reason}, status=503 if error.may_pass else 409)


def signed_in(request: HttpRequest) -> str:
    """Return the signed-in player. Put your own sign-in here: never trust a header."""
    return str(request.headers["X-Demo-Player"])


@csrf_exempt
@require_POST
def mint(request: HttpRequest) -> HttpResponse:
    """Return what the frame of the signed-in player needs, and nothing else."""
    session = client.mint(game_id=GAME, player_id=signed_in(request))
    return JsonResponse({"embedUrl": session.embed_url, "sessionToken": session.session_token})


@csrf_exempt
@require_POST
def seat(request: HttpRequest, order: str) -> HttpResponse:
    """Buy a seat for an order that your shop has stored. A repeated call charges nobody twice."""
    who = signed_in(request)
    taken = client.seat(
        game_id=GAME, player_id=who, tier_id=TIER, stake_usd_cents=STAKE_USD_CENTS,
        idempotency_key=order,
    )  # fmt: skip  # keeps this file under 100 lines
    known = {"seatId": taken.seat_id, "status": taken.status, "matchId": taken.match_id}
    return JsonResponse(known)


@csrf_exempt
@require_POST
def nudge(request: HttpRequest) -> HttpResponse:
    """Verify the raw body and read the feed. In a large backend, leave that to a worker."""
    try:
        verify_webhook(secrets, request.headers.get("X-Service-Signature"), request.body)
    except InvalidSignature:
        return HttpResponse(status=400)
    client.catch_up(store)
    return HttpResponse(status=204)


@require_GET
def result(request: HttpRequest, match_id: str) -> HttpResponse:
    """Return what the store knows of the player's match."""
    row = store.row(match_id, signed_in(request))
    known = row and {"result": row.result, "payoutUsdCents": row.payout_usd_cents}
    return JsonResponse(known or {})


places = {"play/session": mint, "play/seat/<order>": seat, "nudges": nudge}
urlpatterns = [path(place, view) for place, view in places.items()]
urlpatterns.append(path("results/<match_id>", result))
if __name__ == "__main__":
    execute_from_command_line(sys.argv)
