"""Makes every call of the interface once, for the examples of `/openapi.json`.

`scripts/write_examples.py` stores what is returned here; a test makes the calls again and compares.
"""

import json
from pathlib import Path
from typing import Any

import trio

from pgs.actors.maintenance.billing import assemble_invoices
from pgs.actors.messages.account.settings import SetRate
from pgs.actors.messages.catalogue import SetTier
from pgs.actors.messages.seats import StakeSeat
from pgs.clock import SystemClock
from pgs.demo.loopback import HOOKS_HOST
from pgs.domain.members import PLATFORM
from pgs.domain.seats import SeatRequest
from pgs.domain.totp import STEP_S, code_at
from pgs.http.reference.answers import Example, without_secrets
from tests.journeys.admin_client import BOSS, AdminClient, open_admin_with_webhook, person
from tests.journeys.billed import Billed, open_billed
from tests.journeys.client import NOTHING, Client, ok
from tests.journeys.live_stream import watching
from tests.journeys.service import until

GAME = "tic-tac-toe"
TIER = "test-bronze"
WEBHOOK = f"https://{HOOKS_HOST}/nudges"

THEME = {"displayName": "Acme Games", "primaryColor": "#0B6E4F", "cornerRadius": 12}


class Calls:
    """Makes calls and keeps the first of each kind as an example."""

    def __init__(self, client: Client, token: str) -> None:
        self.kept: dict[str, Example] = {}
        self.token = token
        self.client = client

    async def __call__(
        self,
        method: str,
        template: str,
        body: object = NOTHING,
        /,
        query: dict[str, str] | None = None,
        **names: str,
    ) -> Any:
        """Make a call and return the body of its answer, which must be a 200."""
        asked = "&".join(f"{name}={value}" for name, value in (query or {}).items())
        path = template.format(**names) + (f"?{asked}" if asked else "")
        answer = ok(await self.client.call(method, path, self.token, body))
        sent = None if body is NOTHING else without_secrets(body)
        example = Example(names, query or {}, sent, without_secrets(answer))
        self.kept.setdefault(f"{method} {template}", example)
        return answer


async def make_examples(folder: Path) -> dict[str, Example]:
    """Return an example of every call but those of `NOT_CALLED`, by its name."""
    with trio.fail_after(120):
        async with open_admin_with_webhook(folder / "calls") as (admin, _):
            kept = await _call_all(admin)
        async with open_billed(folder / "billing", 2026, 1, 20) as billed:
            return kept | await _call_billing(billed)


async def _call_all(admin: AdminClient) -> dict[str, Example]:
    core = admin.service.core
    await core.directory.catalogue().ask(SetTier("test", TIER, "Bronze", 100, 180))
    await admin.command(SetRate(PLATFORM, 100_000, 100_000))
    by_member = Calls(admin.service.public, admin.issuer.mint_token(person(BOSS)))
    key = await _set_up(by_member)
    by_key = Calls(admin.service.public, key)
    kept = by_key.kept | await _launch(by_key)
    by_member.kept["GET /partner/admin/live"] = await _watch(admin, by_key)
    await _manage(admin, by_member)
    return kept | by_member.kept


async def _set_up(call: Calls) -> str:
    """Do what a new account does before its first launch; return a test key."""
    root = "/partner/admin"
    await call("GET", f"{root}/account")
    await call("GET", f"{root}/rake-terms")
    await call("POST", f"{root}/rake-terms", {"version": 1})
    await call("GET", f"{root}/games")
    await call("POST", f"{root}/games/{{game_id}}/test", game_id=GAME)
    await call("POST", f"{root}/games/{{game_id}}/live-request", game_id=GAME)
    await call("DELETE", f"{root}/games/{{game_id}}/live-request", game_id=GAME)
    origin = {"environment": "test", "origin": "http://localhost:8080"}
    await call("POST", f"{root}/origins", origin)
    await call("GET", f"{root}/origins")
    await call("PUT", f"{root}/prices/{{env}}", {"prices": {TIER: 100}}, env="test")
    await call("GET", f"{root}/prices/{{env}}", env="test")
    await call("GET", f"{root}/tiers", query={"environment": "test"})
    await call("POST", f"{root}/webhooks/{{env}}", {"url": WEBHOOK}, env="test")
    await call("GET", f"{root}/webhooks/{{env}}", env="test")
    key = await call("POST", f"{root}/keys", {"environment": "test", "label": "backend"})
    asked = {"environment": "test", "gameId": GAME}
    await call("GET", f"{root}/readiness", query=asked)
    return str(key["apiKey"])


async def _launch(call: Calls) -> dict[str, Example]:
    """Play a match to its money; return the examples of the Game API."""
    await call("GET", "/partner/me")
    await call("GET", "/partner/readiness", query={"gameId": GAME})
    await call("GET", "/partner/tiers", query={"gameId": GAME})
    player = {"gameId": GAME, "playerId": "p-100", "displayName": "Ada"}
    session = await call("POST", "/partner/sessions", player)
    await call("PUT", "/partner/theme", THEME)
    await call("GET", "/partner/theme")
    lone = await call("POST", "/partner/matches", _seat("p-300", "order-1"))
    await call("POST", "/partner/seats/{seat_id}/cancel", seat_id=lone["seatId"])
    call.kept.pop("POST /partner/matches")
    await call("POST", "/partner/matches", _seat("p-100", "order-2") | {"partnerRef": "cart-7"})
    seat = await call("POST", "/partner/matches", _seat("p-200", "order-3"))
    match_id = seat["matchId"]
    await call("GET", "/partner/seats/{seat_id}", seat_id=seat["seatId"])
    await call("GET", "/partner/matches/{match_id}", match_id=match_id)
    playing = Calls(call.client, session["sessionToken"])
    await playing("GET", "/game/session")
    await playing("POST", "/game/matches/{match_id}/join", match_id=match_id)
    winner = {"outcome": "ended", "winnerPlayerId": "p-100"}
    await call("POST", "/partner/test/matches/{match_id}/decide", winner, match_id=match_id)

    async def is_paid() -> bool:
        rows = (await call("GET", "/partner/results", query={"limit": "10"}))["results"]
        if any("rakeUsdCents" not in row for row in rows if row["matchId"] == match_id):
            call.kept.pop("GET /partner/results")
            return False
        return len(rows) == 3

    await until(is_paid)
    return playing.kept


def _seat(player_id: str, idempotency_key: str) -> dict[str, object]:
    return {
        "playerId": player_id,
        "gameId": GAME,
        "tierId": TIER,
        "stakeUsdCents": 100,
        "idempotencyKey": idempotency_key,
    }


async def _watch(admin: AdminClient, call: Calls) -> Example:
    """Return what the live stream tells of one call."""
    async with watching(admin) as stream:
        await call("GET", "/partner/me")
        told = await stream.until_kind("call")
    text = f"event: call\ndata: {json.dumps(told)}\n\n"
    return Example({}, {"environment": "test"}, None, text)


async def _manage(admin: AdminClient, call: Calls) -> None:
    """Make every other call of the admin API. The calls that end something come last."""
    root = "/partner/admin"
    await call("POST", f"{root}/webhooks/{{env}}/test", env="test")
    attempts = await call("GET", f"{root}/webhooks/{{env}}/attempts", env="test")
    of_match = next(attempt for attempt in attempts["attempts"] if "matchId" in attempt)
    resend = f"{root}/webhooks/{{env}}/attempts/{{attempt_id}}/resend"
    await call("POST", resend, env="test", attempt_id=of_match["attemptId"])
    await call("POST", f"{root}/webhooks/{{env}}/rotate-secret", env="test")
    await call("POST", f"{root}/webhooks/{{env}}/disable", env="test")
    key = await call("POST", f"{root}/keys", {"environment": "test", "label": "old"})
    await call("GET", f"{root}/keys")
    new = await call("POST", f"{root}/keys/{{key_id}}/rotate", key_id=key["keyId"])
    await call("DELETE", f"{root}/keys/{{key_id}}", key_id=new["keyId"])
    origin = {"environment": "test", "origin": "http://localhost:8080"}
    await call("DELETE", f"{root}/origins", origin)
    await call("DELETE", f"{root}/games/{{game_id}}/test", game_id=GAME)
    await call("POST", f"{root}/api-version", {"environment": "test", "version": 1})
    await call("POST", f"{root}/account/domain", {"domain": "acme.example"})
    await call("PUT", f"{root}/theme/{{env}}", THEME, env="live")
    await call("GET", f"{root}/theme/{{env}}", env="live")
    await call("GET", f"{root}/invites/mine")
    asked = {"environment": "test", "playerId": "p-200"}
    (match,) = (await call("GET", f"{root}/matches", query=asked))["matches"]
    in_test = {"environment": "test"}
    await call("GET", f"{root}/matches/{{match_id}}", query=in_test, match_id=match["matchId"])
    (found, _) = (
        await call("GET", f"{root}/matches/{{match_id}}", query=in_test, match_id=match["matchId"])
    )["seats"]
    waiting = SeatRequest("p-400", GAME, TIER, 100, "order-4", "cart-9")
    await admin.service.core.directory.partner("acme").seats("test").ask(StakeSeat(waiting))
    await call("GET", f"{root}/seats", query={**in_test, "playerId": "p-400"})
    await call("GET", f"{root}/seats/{{seat_id}}", query=in_test, seat_id=found["seatId"])
    await call("POST", f"{root}/games/{{game_id}}/test", game_id=GAME)
    await call("POST", f"{root}/test-match", {"gameId": GAME, "tierId": TIER})
    await _people(admin, call)
    await call("GET", f"{root}/events", query={"limit": "3"})
    await call("POST", f"{root}/emergency-stop", {"environment": "test"})
    await call("POST", f"{root}/account/deactivate")
    await call("POST", f"{root}/account/reactivate")


async def _people(admin: AdminClient, call: Calls) -> None:
    root = "/partner/admin"
    invited = {"email": person("ada").email, "role": "developer"}
    invite = await call("POST", f"{root}/invites", invited)
    await call("GET", f"{root}/invites")
    ada = Calls(admin.service.public, admin.issuer.mint_token(person("ada")))
    await ada("POST", f"{root}/invites/{{invite_id}}/accept", invite_id=invite["inviteId"])
    secret = (await ada("POST", f"{root}/totp/enroll"))["secret"]
    code = code_at(secret, SystemClock().now() - STEP_S)
    await ada("POST", f"{root}/totp/verify", {"code": code})
    call.kept |= ada.kept
    await call("GET", f"{root}/members")
    await call("PATCH", f"{root}/members/{{uid}}", {"role": "viewer"}, uid="ada")
    await call("DELETE", f"{root}/members/{{uid}}/totp", uid="ada")
    await call("DELETE", f"{root}/members/{{uid}}", uid="ada")
    other = await call("POST", f"{root}/invites", invited | {"email": person("bob").email})
    await call("DELETE", f"{root}/invites/{{invite_id}}", invite_id=other["inviteId"])


async def _call_billing(billed: Billed) -> dict[str, Example]:
    """Return the examples of usage, summaries and invoices, for keys and for members."""
    await billed.match("won")
    await billed.match("no_contest")
    billed.clock.set(2026, 2, 1)
    call = Calls(billed.service.public, billed.partner.test)
    days = {"from": "20260120", "to": "20260121"}
    await call("GET", "/partner/usage", query=days)
    await call("GET", "/partner/seat-summary", query=days)
    await call("GET", "/partner/results/digest", query=days)
    invoices = "/partner/invoices"

    core = billed.service.core
    await assemble_invoices(core.parts, core.directory)
    invoice_id = (await call("GET", invoices))["invoices"][0]["invoiceId"]
    one = f"{invoices}/{{invoice_id}}"
    await call("GET", one, invoice_id=invoice_id)
    lines = (await call("GET", f"{one}/lines", invoice_id=invoice_id))["lines"]
    line_id = lines[0]["lineId"]
    await call("GET", f"{one}/lines/{{line_id}}/matches", invoice_id=invoice_id, line_id=line_id)
    twins = {"environment": "test"}
    for name, example in list(call.kept.items()):
        admin = name.replace("/partner/", "/partner/admin/")
        if "/invoices" in name:
            call.kept[admin] = Example(
                example.path, example.query | twins, example.body, example.answer
            )
        elif name.endswith(("/usage", "/seat-summary")):
            call.kept[f"{admin}/{{env}}"] = Example(
                {"env": "test"}, example.query, example.body, example.answer
            )
    return call.kept
