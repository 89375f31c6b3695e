"""Every reason of the reference is provoked once over HTTP.

The tests' clients compare each refusal with the reference: its status, and the fields of the
reason's example (`check_like_example`).
"""

import pytest

from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.domain.errors import ERRORS
from pgs.domain.members import PLATFORM
from pgs.http.billing import digest
from pgs.operator.commands.invoice import INVOICE_ASSEMBLE, Month
from pgs.operator.invoice_records import AssembledPage
from tests.journeys.admin_client import open_admin_with_webhook
from tests.journeys.billed import Billed, open_billed
from tests.journeys.client import NOTHING, Client, HeaderList, ok
from tests.journeys.partners import LIVE_ONLY, LOCKED, SILVER, UNKNOWN, drain, seat_body
from tests.journeys.places import Place
from tests.journeys.provoked_admin import provoke_as_admin
from tests.journeys.seats import RemoteSettlement
from tests.journeys.service import in_process

SEAT = "/partner/matches"
MINT = "/partner/sessions"


class Provoked:
    """Collects the reasons of refusals. Fails if a call is answered with another reason."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.reasons: set[str] = set()

    async def __call__(
        self,
        reason: str,
        method: str,
        path: str,
        key: str | None,
        body: object = NOTHING,
        headers: HeaderList = (),
    ) -> None:
        """Make a call that has to be refused with a reason."""
        reply = await self._client.call(method, path, key, body, headers=headers)
        assert reply.reason == reason, (method, path, reply.content)
        self.reasons.add(reason)


async def test_every_reason_of_the_reference_is_answered_like_its_example(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digest, "ROWS_MAX", 2)  # 200,000 seats would take minutes
    reasons = await _refused_everywhere(place)
    async with open_billed(place / "billed") as billed:
        provoked = Provoked(billed.service.public)
        await _launches(provoked, billed)
        await _matches(provoked, billed)
        await _themes(provoked, billed)
        await _lists(provoked, billed)
        reasons |= provoked.reasons
    async with open_admin_with_webhook(place / "admin") as (admin, inbox):
        reasons |= await provoke_as_admin(admin, inbox.url)
    assert set(ERRORS) - reasons == set()
    assert reasons - set(ERRORS) == set()


async def _refused_everywhere(place: Place) -> set[str]:
    """Provoke what depends on how a service is deployed, or on stores that fail."""
    reasons = set()
    for environment in ("live", "test"):
        async with in_process(
            place / environment,
            restrict_environment=environment,
            settlement=RemoteSettlement(None),
        ) as service:
            partner = await service.partner()
            provoked = Provoked(service.public)
            if environment == "live":
                await provoked("test_key_against_live", "GET", "/partner/me", partner.test)
            else:
                await provoked("live_key_against_test", "GET", "/partner/me", partner.live)
                body = seat_body("alice", "lost")
                await provoked("settlement_unavailable", "POST", SEAT, partner.test, body)
            service.close_registries()
            await provoked("registry_unavailable", "GET", "/partner/me", partner.test)
            reasons |= provoked.reasons
    async with in_process(place / "declines", settlement=RemoteSettlement("declined")) as service:
        partner = await service.partner()
        provoked = Provoked(service.public)
        await provoked("stake_declined", "POST", SEAT, partner.test, seat_body("alice", "poor"))
    return reasons | provoked.reasons


async def _launches(provoked: Provoked, billed: Billed) -> None:
    """Provoke what a key, a launch and a seat can be refused with."""
    service, partner = billed.service, billed.partner
    key = partner.test
    await provoked("invalid_key", "GET", "/partner/me", key[:-1])
    version = [("X-Service-Api-Version", "99")]
    await provoked("unsupported_api_version", "GET", "/partner/me", key, headers=version)
    off, busy = await service.partner("off"), await service.partner("busy", burst=5)
    await service.account("off", SwitchAccount(PLATFORM, False))
    await provoked("partner_inactive", "GET", "/partner/me", off.test)
    drain(service.core_of("busy"), "busy")
    await provoked("rate_limited", "GET", "/partner/me", busy.test)
    player = {"playerId": "alice"}
    await provoked("game_not_licensed", "POST", MINT, key, player | {"gameId": UNKNOWN})
    elsewhere = player | {"gameId": LIVE_ONLY}
    await provoked("game_not_licensed_in_this_environment", "POST", MINT, key, elsewhere)
    for reason, fields in (
        ("malformed_player_id", {"playerId": ""}),
        ("unknown_tier", {"tierId": "none"}),
        ("tier_locked", {"tierId": LOCKED}),
        ("stake_below_floor", {"stakeUsdCents": 99}),
        ("stake_above_prize", {"stakeUsdCents": 181}),
        ("stake_does_not_match_price", {"tierId": SILVER, "stakeUsdCents": 149}),
    ):
        await provoked(reason, "POST", SEAT, key, seat_body("alice", "one", **fields))
    strangers = await service.partner("strangers", terms=False)
    body = seat_body("alice", "one")
    await provoked("rake_terms_not_agreed", "POST", SEAT, strangers.test, body)


async def _matches(provoked: Provoked, billed: Billed) -> None:
    """Provoke what a seat, a match and a player's page can be refused with."""
    key, client = billed.partner.test, billed.service.public
    match_id = await billed.match()
    seat = ok(await client.call("POST", SEAT, key, seat_body("p1", "k1")))
    body = seat_body("p1", "k1", stakeUsdCents=101)
    await provoked("idempotency_key_conflict", "POST", SEAT, key, body)
    await provoked("seat_not_found", "GET", "/partner/seats/sea_none", key)
    cancel = f"/partner/seats/{seat['seatId']}/cancel"
    await provoked("seat_not_waiting", "POST", cancel, key)
    await provoked("match_not_found", "GET", "/partner/matches/mat_none", key)
    decide, voided = f"/partner/test/matches/{match_id}/decide", {"outcome": "no_contest"}
    await provoked("match_already_decided", "POST", decide, key, voided)
    await provoked("test_key_required", "POST", decide, billed.partner.live, voided)
    player = {"gameId": seat["gameId"], "playerId": "p1"}
    session = ok(await client.call("POST", MINT, billed.partner.live, player))["sessionToken"]
    await provoked("cross_environment_join", "POST", f"/game/matches/{match_id}/join", session)


async def _themes(provoked: Provoked, billed: Billed) -> None:
    key = billed.partner.test
    for reason, theme in (
        ("theme_field_invalid", {"cornerRadius": 33}),
        ("logo_unsupported_type", {"logo": {"mime": "image/gif", "base64": ""}}),
        ("logo_malformed", {"logo": {"mime": "image/webp", "base64": "*"}}),
        ("logo_too_large", {"logo": {"mime": "image/png", "base64": "A" * 349_528}}),
        ("logo_not_that_image", {"logo": {"mime": "image/png", "base64": "AAAA"}}),
    ):
        await provoked(reason, "PUT", "/partner/theme", key, theme)
    await provoked("live_theme_not_writable", "PUT", "/partner/theme", billed.partner.live, {})


async def _lists(provoked: Provoked, billed: Billed) -> None:
    """Provoke what days, lists and invoices can be refused with."""
    key, usage, digests = billed.partner.test, "/partner/usage", "/partner/results/digest"
    await billed.match()
    page = await INVOICE_ASSEMBLE.run(billed.service.core, Month("202802"))
    assert isinstance(page, AssembledPage)
    (draft,) = page.invoices
    path = f"/partner/invoices/{draft.invoice_id}"
    await provoked("invoice_not_readable", "GET", path, key)
    billed.clock.set(2028, 3, 1)
    for reason, path in (
        ("invalid_cursor", "/partner/results?cursor=x"),
        ("missing_parameter", "/partner/tiers"),
        ("malformed_day", f"{usage}?from=2028&to=20280228"),
        ("range_backwards", f"{usage}?from=20280228&to=20280227"),
        ("range_too_wide", f"{usage}?from=20270101&to=20280227"),
        ("day_not_final", f"{usage}?from=20280228&to=20280301"),
        ("range_too_expensive", f"{digests}?from=20280228&to=20280228"),
        ("invoice_not_found", "/partner/invoices/inv_none"),
        ("invoice_status_invalid", "/partner/invoices?status=new"),
    ):
        await provoked(reason, "GET", path, key)
