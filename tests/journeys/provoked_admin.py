"""Provokes every refusal of the admin API that no call with a key can get."""

from pgs.actors.messages.account.lifecycle import CreatePartner
from pgs.actors.messages.account.settings import AddOrigin, ChangeLicence
from pgs.domain.factors import MAX_WRONG_CODES
from pgs.domain.invites import INVITE_S, Invite
from pgs.domain.members import PLATFORM
from pgs.domain.origins import MAX_ORIGINS
from pgs.storage.invites import insert_invite
from pgs.storage.transactions import Tx
from tests.journeys.admin_client import BOSS, AdminClient, person
from tests.journeys.client import NOTHING, HeaderList

KEY = {"environment": "test", "label": "shop"}


class ProvokedByMembers:
    """Collects the reasons of refusals. Fails if a call is answered with another reason."""

    def __init__(self, admin: AdminClient) -> None:
        self.admin = admin
        self.reasons: set[str] = set()

    async def __call__(
        self,
        reason: str,
        method: str,
        path: str,
        body: object = NOTHING,
        who: str = BOSS,
        headers: HeaderList = (),
    ) -> None:
        """Make a call that has to be refused with a reason."""
        reply = await self.admin.call(method, path, body, who=who, headers=headers)
        assert reply.reason == reason, (method, path, reply.content)
        self.reasons.add(reason)


async def provoke_as_admin(admin: AdminClient, webhook_url: str) -> set[str]:
    """Return the reasons of the refusals of the members' calls."""
    provoked = ProvokedByMembers(admin)
    await _authorization(provoked)
    await _account(provoked)
    await _keys_and_origins(provoked)
    await _webhooks(provoked, webhook_url)
    await _games(provoked)
    await _people(provoked)
    return provoked.reasons


async def _authorization(provoked: ProvokedByMembers) -> None:
    admin = provoked.admin
    await provoked("sign_in_required", "GET", "account", who="platform")
    await provoked("not_a_partner_admin", "GET", "account", who="stranger")
    await admin.add_member("val", "viewer")
    await provoked("role_forbidden", "POST", "keys", KEY, who="val")
    await admin.add_member("dev", "developer", "none")
    await provoked("totp_not_enrolled", "POST", "keys", KEY, who="dev")
    await admin.set_standing("dev", "closed")
    await provoked("step_up_required", "POST", "keys", KEY, who="dev")
    await admin.set_standing("dev", "stale")
    await provoked("fresh_step_up_required", "POST", "keys", KEY, who="dev")
    await admin.set_standing("dev", "none")
    await admin.enrol("dev")
    for _ in range(MAX_WRONG_CODES):
        await provoked("invalid_code", "POST", "totp/verify", {"code": "x"}, who="dev")
    await provoked("step_up_locked", "POST", "totp/verify", {"code": "x"}, who="dev")


async def _account(provoked: ProvokedByMembers) -> None:
    admin = provoked.admin
    seen = [("If-Match", "0")]
    await provoked("partner_changed", "POST", "account/domain", {"domain": "x"}, headers=seen)
    await provoked("invalid_domain", "POST", "account/domain", {"domain": "x"})
    await provoked("address_outside_domain", "POST", "account/domain", {"domain": "other.com"})
    await admin.call_ok("POST", "account/domain", {"domain": "acme.example"})
    await provoked("domain_already_set", "POST", "account/domain", {"domain": "acme.example"})
    await admin.call_ok("POST", "rake-terms", {"version": 1})
    await provoked("terms_already_agreed", "POST", "rake-terms", {"version": 1})
    await provoked("below_floor", "PUT", "prices/test", {"prices": {"bronze": 99}})
    await provoked("account_active", "POST", "account/reactivate")
    await admin.call_ok("POST", "account/deactivate")
    await provoked("account_inactive", "POST", "account/deactivate")
    await admin.call_ok("POST", "account/reactivate")


async def _keys_and_origins(provoked: ProvokedByMembers) -> None:
    admin = provoked.admin
    await provoked("label_required", "POST", "keys", {"environment": "test"})
    await provoked("key_not_found", "POST", "keys/key_none/rotate")
    made = await admin.call_ok("POST", "keys", KEY)
    await admin.call_ok("DELETE", f"keys/{made['keyId']}")
    await provoked("key_not_active", "POST", f"keys/{made['keyId']}/rotate")
    page = {"environment": "live", "origin": "https://x.example"}
    await provoked("invalid_origin", "POST", "origins", page | {"origin": "http://x.example"})
    await provoked("origin_not_found", "DELETE", "origins", page)
    for number in range(MAX_ORIGINS):
        await admin.command(AddOrigin(BOSS, "live", f"https://h{number}.acme.example"))
    await provoked("too_many_origins", "POST", "origins", page)


async def _webhooks(provoked: ProvokedByMembers, url: str) -> None:
    admin = provoked.admin
    await provoked("invalid_webhook_url", "POST", "webhooks/test", {"url": "http://acme.com"})
    await provoked("webhook_not_configured", "POST", "webhooks/test/test")
    await admin.call_ok("POST", "webhooks/test", {"url": url})
    await admin.call_ok("POST", "webhooks/test/test")
    await provoked("test_event_too_soon", "POST", "webhooks/test/test")
    await provoked("attempt_not_found", "POST", "webhooks/test/attempts/att_none/resend")
    await admin.call_ok("POST", "webhooks/test/disable")
    await provoked("webhook_not_enabled", "POST", "webhooks/test/test")


async def _games(provoked: ProvokedByMembers) -> None:
    admin = provoked.admin
    await provoked("unknown_game", "POST", "games/tiddlywinks/test")
    await provoked("not_licensed_in_test", "POST", "games/reversi/live-request")
    for call in ("test", "live-request"):
        await admin.call_ok("POST", f"games/reversi/{call}")
    await admin.command(ChangeLicence(PLATFORM, "reversi", "grant"))
    await provoked("already_live", "POST", "games/reversi/live-request")


async def _people(provoked: ProvokedByMembers) -> None:
    admin = provoked.admin
    await provoked("member_not_found", "DELETE", "members/nobody")
    await provoked("last_admin", "DELETE", f"members/{BOSS}")
    await provoked("invalid_email", "POST", "invites", {"email": "x", "role": "viewer"})
    await provoked("invite_not_found", "DELETE", "invites/ivt_none")
    invite = await admin.invite("eve", "viewer")
    accept = f"invites/{invite.invite_id}/accept"
    await provoked("wrong_address", "POST", accept, who="other")
    await admin.call_ok("POST", accept, who="eve")
    await provoked("already_accepted", "POST", accept, who="eve")
    second = await admin.invite("eve", "admin")
    await provoked("already_a_member", "POST", f"invites/{second.invite_id}/accept", who="eve")
    other = await admin.command(CreatePartner("Bravo", person("eve").email), "bravo")
    await provoked(
        "already_administers_another_partner",
        "POST",
        f"invites/{other.invite_id}/accept",
        who="eve",
    )
    parts = admin.service.core.parts
    now = parts.clock.now()
    old = Invite("ivt_old", person("late").email, "viewer", now - INVITE_S, now)
    await parts.database.writer.submit(Tx("acme", insert_invite("acme", 1000, old)))
    await provoked("expired", "POST", "invites/ivt_old/accept", who="late")
