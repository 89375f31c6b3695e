"""Every refusal of the admin API, caused over HTTP. A refused call changes nothing."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from pgs.actors.messages.account.lifecycle import CreatePartner, SwitchAccount
from pgs.actors.messages.account.settings import AddOrigin, ChangeLicence, SetRate
from pgs.devissuer.people import Person
from pgs.domain.environments import ENVIRONMENTS
from pgs.domain.invites import INVITE_S, Invite
from pgs.domain.members import PLATFORM, UID_MAX
from pgs.domain.stepup import LOCK_S, MAX_WRONG_CODES
from pgs.domain.totp import STEP_S, code_at
from pgs.storage.invites import insert_invite
from pgs.storage.transactions import Tx
from tests.journeys.admin_client import BOSS, AdminClient, open_admin, person
from tests.journeys.client import NOTHING, check_plain, check_refusal
from tests.journeys.service import in_process

ORIGIN_CASES = json.loads(
    (Path(__file__).parents[1] / "cases" / "origin_cases.json").read_text(encoding="utf-8")
)


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[AdminClient]:
    """An account with its first admin, whose step-up window is fresh."""
    async with open_admin(tmp_path) as opened:
        yield opened


async def test_a_caller_without_a_valid_token_is_told_to_sign_in(admin: AdminClient) -> None:
    client = admin.service.public
    for token in (None, "x", "a.b.c", admin.issuer.mint_token(person(BOSS), email_verified=False)):
        reply = await client.call("GET", "/partner/admin/account", token)
        check_refusal(reply, 401, "sign_in_required")
        assert (reply.version, reply.header("www-authenticate")) == (1, "Bearer")


async def test_nobody_can_sign_in_without_an_issuer(tmp_path: Path) -> None:
    async with open_admin(tmp_path / "other") as admin:
        pass
    async with in_process(tmp_path / "other") as service:
        reply = await service.public.call(
            "GET", "/partner/admin/account", admin.issuer.mint_token(person(BOSS))
        )
        check_refusal(reply, 401, "sign_in_required")


async def test_a_user_with_the_platforms_name_is_refused(admin: AdminClient) -> None:
    check_refusal(await admin.call("GET", "account", who="platform"), 401, "sign_in_required")


async def test_membership_role_and_step_up_are_required(admin: AdminClient) -> None:
    check_refusal(await admin.call("GET", "account", who="stranger"), 403, "not_a_partner_admin")
    await admin.add_member("val", "viewer")
    check_refusal(
        await admin.call("POST", "keys", {"environment": "test", "label": "x"}, who="val"),
        403,
        "role_forbidden",
    )
    await admin.add_member("dev", "developer", "none")
    check_refusal(
        await admin.call("POST", "keys", {"environment": "test", "label": "x"}, who="dev"),
        403,
        "totp_not_enrolled",
    )
    await admin.set_standing("dev", "closed")
    check_refusal(
        await admin.call("POST", "keys", {"environment": "test", "label": "x"}, who="dev"),
        403,
        "step_up_required",
    )
    await admin.set_standing("dev", "stale")
    check_refusal(
        await admin.call("POST", "keys", {"environment": "test", "label": "x"}, who="dev"),
        403,
        "fresh_step_up_required",
    )
    check_refusal(await admin.call("POST", "totp/enroll", who="dev"), 403, "fresh_step_up_required")
    await admin.set_standing("dev", "closed")
    check_refusal(await admin.call("POST", "totp/enroll", who="dev"), 403, "step_up_required")


async def test_wrong_and_used_codes_are_refused_and_five_of_them_lock(admin: AdminClient) -> None:
    await admin.add_member("dev", "developer", "none")
    check_refusal(
        await admin.call("POST", "totp/verify", {"code": "123456"}, who="dev"),
        409,
        "totp_not_enrolled",
    )
    check_plain(await admin.call("POST", "totp/verify", {"code": 123456}, who="dev"), "code")
    secret = await admin.enrol("dev")
    now = admin.service.core.parts.clock.now()
    right = [code_at(secret, now), code_at(secret, now - STEP_S)]
    assert (
        await admin.call("POST", "totp/verify", {"code": right[1]}, who="dev")
    ).reason == "invalid_code"  # the enrolment has used it up
    for wrong in [
        "",
        "abcdef",
        "\uff11" * 6,
        "0000000",
        next(c for c in ("000000", "111111", "222222") if c not in right),
    ]:
        check_refusal(
            await admin.call("POST", "totp/verify", {"code": wrong}, who="dev"),
            403,
            "invalid_code",
        )
    assert MAX_WRONG_CODES == 5
    reply = await admin.call("POST", "totp/verify", {"code": right[0]}, who="dev")
    check_refusal(reply, 429, "step_up_locked")
    assert 0 < int(reply.header("retry-after") or 0) <= LOCK_S
    # An open window stays open, and the account shows the lock.
    step_up = (await admin.call_ok("GET", "account", who="dev"))["stepUp"]
    assert step_up["enrolled"] is True
    assert step_up["lockedUntil"] > now
    await admin.call_ok("POST", "keys", {"environment": "test", "label": "x"}, who="dev")
    check_refusal(await admin.call("POST", "totp/enroll", who="dev"), 429, "step_up_locked")


async def test_a_write_may_name_the_revision_that_it_has_seen(admin: AdminClient) -> None:
    seen = (await admin.call_ok("GET", "account"))["revision"]
    for port, spelling in enumerate(("%d", '"%d"')):
        headers = [("If-Match", spelling % seen)]
        await admin.call_ok(
            "POST",
            "origins",
            {"environment": "test", "origin": f"http://localhost:{port + 1}"},
            headers=headers,
        )
        seen = (await admin.call_ok("GET", "account"))["revision"]
    stale = [("If-Match", str(seen - 1))]
    check_refusal(
        await admin.call(
            "POST",
            "origins",
            {"environment": "test", "origin": "http://localhost:9"},
            headers=stale,
        ),
        409,
        "partner_changed",
    )
    for bad in ("x", "1.0", '"1', "*", "W/1", "-1", "\uff11"):
        reply = await admin.call(
            "POST",
            "origins",
            {"environment": "test", "origin": "http://a"},
            headers=[("If-Match", bad.encode())],
        )
        check_refusal(reply, 400, None)
        assert "If-Match" in reply.json["error"]
    assert (await admin.call_ok("GET", "account"))["revision"] == seen


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "account/domain", {"domain": "acme.example"}),
        ("POST", "account/deactivate", NOTHING),
        ("POST", "emergency-stop", {"environment": "test"}),
        ("POST", "rake-terms", {"version": 1}),
        ("POST", "api-version", {"environment": "test", "version": 1}),
        ("POST", "keys", {"environment": "test", "label": "x"}),
        ("PUT", "prices/test", {"prices": {}}),
        ("POST", "webhooks/test", {"url": "https://hooks.acme.com/"}),
        ("POST", "invites", {"email": "x@acme.example", "role": "viewer"}),
        ("PATCH", "members/boss", {"role": "admin"}),
        ("POST", "totp/enroll", NOTHING),
        ("POST", "games/reversi/test", NOTHING),
    ],
)
async def test_every_kind_of_write_respects_the_revision(
    admin: AdminClient, method: str, path: str, body: object
) -> None:
    before = await admin.call_ok("GET", "account")
    check_refusal(
        await admin.call(method, path, body, headers=[("If-Match", "0")]), 409, "partner_changed"
    )
    assert await admin.call_ok("GET", "account") == before


async def test_every_case_of_the_origin_table_is_answered_as_listed(admin: AdminClient) -> None:
    wrong = []
    for row in ORIGIN_CASES:
        for environment in ENVIRONMENTS if row["env"] == "both" else [row["env"]]:
            reply = await admin.call(
                "POST", "origins", {"environment": environment, "origin": row["input"]}
            )
            accepted = (
                reply.status == 200 and row.get("stored") in reply.json["origins"][environment]
            )
            refused = reply.status == 400 and reply.reason in ("invalid_origin", None)
            if not (accepted if row["expect"] == "accept" else refused):
                wrong.append((environment, row, reply.status, reply.content[:80]))
    assert wrong == []


async def test_origins_and_their_refusals(admin: AdminClient) -> None:
    added = {"environment": "live", "origin": "https://Play.Acme.Example:443"}
    once = await admin.call_ok("POST", "origins", added)
    assert once == {"origins": {"live": ["https://play.acme.example"], "test": []}}
    revision = (await admin.call_ok("GET", "account"))["revision"]
    assert await admin.call_ok("POST", "origins", added) == once
    assert (await admin.call_ok("GET", "account"))["revision"] == revision
    check_refusal(
        await admin.call("POST", "origins", {"environment": "live", "origin": "http://x.example"}),
        400,
        "invalid_origin",
    )
    check_plain(
        await admin.call("POST", "origins", {"environment": "prod", "origin": "https://x.example"}),
        "environment",
    )
    check_refusal(
        await admin.call(
            "DELETE", "origins", {"environment": "test", "origin": "https://play.acme.example"}
        ),
        404,
        "origin_not_found",
    )
    left = await admin.call_ok(
        "DELETE", "origins?environment=live&origin=https://play.acme.example"
    )
    assert left == {"origins": {"live": [], "test": []}}
    check_plain(await admin.call("DELETE", "origins?environment=live"), "origin")
    for number in range(128):
        await admin.command(AddOrigin(BOSS, "test", f"https://h{number}.acme.example"))
    check_refusal(
        await admin.call("POST", "origins", {"environment": "test", "origin": "https://x.example"}),
        400,
        "too_many_origins",
    )
    await admin.call_ok(
        "POST", "origins", {"environment": "test", "origin": "https://h5.acme.example"}
    )
    await admin.call_ok("POST", "origins", {"environment": "live", "origin": "https://x.example"})


async def test_webhooks_and_their_refusals(admin: AdminClient) -> None:
    for url in (
        "http://hooks.acme.com/",
        "https://localhost/",
        "https://10.0.0.1/",
        "https://a.example/",
        "",
        "https://hooks.acme.com:0/",
    ):
        check_refusal(
            await admin.call("POST", "webhooks/test", {"url": url}), 400, "invalid_webhook_url"
        )
    for call in ("rotate-secret", "disable", "test"):
        check_refusal(
            await admin.call("POST", f"webhooks/test/{call}"), 404, "webhook_not_configured"
        )
    assert await admin.call_ok("GET", "webhooks/test") == {}
    saved = await admin.call_ok("POST", "webhooks/test", {"url": "https://hooks.acme.com/a"})
    assert saved["signingSecret"].startswith("whsec_")
    again = await admin.call_ok("POST", "webhooks/test", {"url": "https://hooks.acme.com/b"})
    assert (again["webhook"]["url"], "signingSecret" in again) == (
        "https://hooks.acme.com/b",
        False,
    )
    rotated = await admin.call_ok("POST", "webhooks/test/rotate-secret")
    assert rotated["signingSecret"] not in ("", saved["signingSecret"])
    off = await admin.call_ok("POST", "webhooks/test/disable")
    assert off["webhook"]["enabled"] is False
    check_refusal(await admin.call("POST", "webhooks/test/test"), 409, "webhook_not_enabled")
    assert await admin.call_ok("GET", "webhooks/test") == off
    assert await admin.call_ok("GET", "webhooks/live") == {}


async def test_keys_and_their_refusals(admin: AdminClient) -> None:
    for body in (
        {"environment": "test"},
        {"environment": "test", "label": ""},
        {"environment": "test", "label": " \t"},
    ):
        check_refusal(await admin.call("POST", "keys", body), 400, "label_required")
    check_plain(
        await admin.call("POST", "keys", {"environment": "test", "label": "x" * 65}), "label"
    )
    check_plain(await admin.call("POST", "keys", {"environment": "test", "label": None}), "label")
    check_plain(await admin.call("POST", "keys", {"label": "x"}), "environment")
    made = await admin.call_ok("POST", "keys", {"environment": "test", "label": "shop"})
    check_refusal(await admin.call("POST", "keys/key_none/rotate"), 404, "key_not_found")
    check_refusal(await admin.call("DELETE", "keys/key_none"), 404, "key_not_found")
    rotated = await admin.call_ok("POST", f"keys/{made['keyId']}/rotate")
    assert rotated["previous"]["keyId"] == made["keyId"]
    for key in (made["apiKey"], rotated["apiKey"]):
        assert (await admin.service.public.call("GET", "/partner/me", key)).status == 200
    check_refusal(await admin.call("POST", f"keys/{made['keyId']}/rotate"), 409, "key_not_active")
    listed = (await admin.call_ok("GET", "keys"))["keys"]
    assert [(key["keyId"], key["status"]) for key in listed] == [
        (made["keyId"], "scheduled"),
        (rotated["keyId"], "active"),
    ] or [(key["keyId"], key["status"]) for key in listed] == [
        (rotated["keyId"], "active"),
        (made["keyId"], "scheduled"),
    ]
    assert all("apiKey" not in key for key in listed)
    assert all(key["lastUsedAt"] > 0 for key in listed)
    revoked = await admin.call_ok("DELETE", f"keys/{made['keyId']}")
    assert revoked["status"] == "revoked"
    assert await admin.call_ok("DELETE", f"keys/{made['keyId']}") == revoked
    check_refusal(
        await admin.service.public.call("GET", "/partner/me", made["apiKey"]), 401, "invalid_key"
    )
    check_refusal(await admin.call("POST", f"keys/{made['keyId']}/rotate"), 409, "key_not_active")


async def test_members_and_their_refusals(admin: AdminClient) -> None:
    check_refusal(await admin.call("DELETE", f"members/{BOSS}"), 409, "last_admin")
    check_refusal(
        await admin.call("PATCH", f"members/{BOSS}", {"role": "viewer"}), 409, "last_admin"
    )
    check_refusal(
        await admin.call("PATCH", "members/nobody", {"role": "viewer"}), 404, "member_not_found"
    )
    check_refusal(
        await admin.call("DELETE", f"members/{'x' * (UID_MAX + 1)}"), 404, "member_not_found"
    )
    check_plain(await admin.call("PATCH", f"members/{BOSS}", {"role": "owner"}), "role")
    strange = "auth0|a/b c%é"
    await admin.add_member(strange, "viewer")
    path = "members/auth0%7Ca%2Fb%20c%25%C3%A9"
    assert (await admin.call_ok("PATCH", path, {"role": "admin"}))["uid"] == strange
    assert (await admin.call_ok("PATCH", f"members/{BOSS}", {"role": "viewer"}))["role"] == "viewer"
    check_refusal(await admin.call("DELETE", path), 403, "role_forbidden")
    assert {member["uid"] for member in (await admin.call_ok("GET", "members"))["members"]} == {
        BOSS,
        strange,
    }


async def test_a_removed_member_loses_access_at_once_and_returns_without_an_authenticator(
    admin: AdminClient,
) -> None:
    await admin.add_member("dev", "developer")
    await admin.call_ok("DELETE", "members/dev")
    check_refusal(await admin.call("GET", "account", who="dev"), 403, "not_a_partner_admin")
    await admin.add_member("dev", "developer", "none")
    assert (await admin.call_ok("GET", "account", who="dev"))["stepUp"] == {"enrolled": False}


async def test_an_address_that_equals_the_invited_one_only_once_normalised_is_refused(
    admin: AdminClient,
) -> None:
    invite = await admin.invite("kate", "admin")
    impostor = Person(
        "impostor", "Kate", "\u212aate@acme.example"
    )  # the Kelvin sign, not the letter K
    client, path = admin.service.public, f"/partner/admin/invites/{invite.invite_id}/accept"
    check_refusal(
        await client.call("POST", path, admin.issuer.mint_token(impostor), NOTHING),
        403,
        "wrong_address",
    )
    assert (await admin.call_ok("POST", f"invites/{invite.invite_id}/accept", who="kate"))[
        "status"
    ] == "accepted"


async def test_invites_and_their_refusals(admin: AdminClient) -> None:
    for email in ("", "x", "x@", "a@b@c.example", "x@localhost", "x" * 255 + "@acme.example"):
        check_refusal(
            await admin.call("POST", "invites", {"email": email, "role": "viewer"}),
            400,
            "invalid_email",
        )
    check_plain(
        await admin.call("POST", "invites", {"email": "x@acme.example", "role": "boss"}), "role"
    )
    invite = await admin.call_ok(
        "POST", "invites", {"email": "Dev@Acme.example", "role": "developer"}
    )
    accept = f"invites/{invite['inviteId']}/accept"
    check_refusal(await admin.call("POST", accept, who="other"), 403, "wrong_address")
    check_refusal(
        await admin.call("POST", "invites/ivt_none/accept", who="dev"), 404, "invite_not_found"
    )
    assert (await admin.call_ok("POST", accept, who="dev"))["status"] == "accepted"
    check_refusal(await admin.call("POST", accept, who="dev"), 409, "already_accepted")
    check_refusal(
        await admin.call("DELETE", f"invites/{invite['inviteId']}"), 409, "already_accepted"
    )
    check_refusal(await admin.call("DELETE", "invites/ivt_none"), 404, "invite_not_found")
    second = await admin.call_ok("POST", "invites", {"email": "dev@acme.example", "role": "admin"})
    check_refusal(
        await admin.call("POST", f"invites/{second['inviteId']}/accept", who="dev"),
        409,
        "already_a_member",
    )
    revoked = await admin.call_ok("DELETE", f"invites/{second['inviteId']}")
    assert revoked["status"] == "revoked"
    check_refusal(
        await admin.call("POST", f"invites/{second['inviteId']}/accept", who="dev"),
        404,
        "invite_not_found",
    )
    check_refusal(
        await admin.call("DELETE", f"invites/{second['inviteId']}"), 404, "invite_not_found"
    )
    other = await admin.command(CreatePartner("Bravo", person("dev").email), "bravo")
    check_refusal(
        await admin.call("POST", f"invites/{other.invite_id}/accept", who="dev"),
        409,
        "already_administers_another_partner",
    )
    statuses = [entry["status"] for entry in (await admin.call_ok("GET", "invites"))["invites"]]
    assert statuses == ["revoked", "accepted", "accepted"]


async def test_an_invite_expires(admin: AdminClient) -> None:
    parts = admin.service.core.parts
    now = parts.clock.now()
    old = Invite("ivt_old", person("late").email, "viewer", now - INVITE_S, now)
    await parts.database.writer.submit(Tx("acme", insert_invite("acme", 1000, old)))
    check_refusal(await admin.call("POST", "invites/ivt_old/accept", who="late"), 403, "expired")
    assert (await admin.call_ok("GET", "invites"))["invites"][0]["status"] == "expired"


async def test_domains_and_their_refusals(admin: AdminClient) -> None:
    for domain in ("", "localhost", "acme", "co.uk", "1.2.3.4", "acme.example/", "-acme.example"):
        check_refusal(
            await admin.call("POST", "account/domain", {"domain": domain}), 400, "invalid_domain"
        )
    check_refusal(
        await admin.call("POST", "account/domain", {"domain": "other.com"}),
        400,
        "address_outside_domain",
    )
    assert (await admin.call_ok("POST", "account/domain", {"domain": "ACME.example"}))[
        "adminDomain"
    ] == "acme.example"
    check_refusal(
        await admin.call("POST", "account/domain", {"domain": "acme.example"}),
        409,
        "domain_already_set",
    )
    for email in ("x@sub.acme.example", "x@acme.com"):
        check_refusal(
            await admin.call("POST", "invites", {"email": email, "role": "viewer"}),
            400,
            "address_outside_domain",
        )


async def test_games_and_their_refusals(admin: AdminClient) -> None:
    for method, call in (
        ("POST", "test"),
        ("DELETE", "test"),
        ("POST", "live-request"),
        ("DELETE", "live-request"),
    ):
        check_refusal(await admin.call(method, f"games/tiddlywinks/{call}"), 400, "unknown_game")
    check_refusal(
        await admin.call("POST", "games/reversi/live-request"), 409, "not_licensed_in_test"
    )
    assert (await admin.call_ok("POST", "games/reversi/test"))["test"] is True
    assert (await admin.call_ok("POST", "games/reversi/live-request"))["live"] == "requested"
    assert (await admin.call_ok("POST", "games/reversi/live-request"))["live"] == "requested"
    await admin.command(ChangeLicence(PLATFORM, "reversi", "deny", "not yet"))
    games = {game["gameId"]: game for game in (await admin.call_ok("GET", "games"))["games"]}
    assert (games["reversi"]["live"], games["reversi"]["note"]) == ("denied", "not yet")
    await admin.call_ok("POST", "games/reversi/live-request")
    await admin.command(ChangeLicence(PLATFORM, "reversi", "grant"))
    check_refusal(await admin.call("POST", "games/reversi/live-request"), 409, "already_live")
    off = await admin.call_ok("DELETE", "games/reversi/test")
    assert (off["test"], off["live"]) == (False, "granted")
    assert (await admin.call_ok("DELETE", "games/reversi/live-request"))["live"] == "withdrawn"


async def test_prices_and_their_refusals(admin: AdminClient) -> None:
    check_refusal(
        await admin.call("PUT", "prices/test", {"prices": {"nope": 100}}), 400, "unknown_tier"
    )
    check_refusal(
        await admin.call("PUT", "prices/test", {"prices": {"bronze": 99}}),
        400,
        "below_floor",
        floorUsdCents=100,
    )
    check_refusal(
        await admin.call("PUT", "prices/test", {"prices": {"bronze": 181}}),
        400,
        "stake_above_prize",
        ceilingUsdCents=180,
    )
    for bad in (1.5, True, None, "100", 2**60):
        check_plain(await admin.call("PUT", "prices/test", {"prices": {"bronze": bad}}))
    assert await admin.call_ok(
        "PUT", "prices/test", {"prices": {"bronze": 150, "silver": 120}}
    ) == {"prices": {"bronze": 150, "silver": 120}}
    assert await admin.call_ok("PUT", "prices/test", {"prices": {"silver": 110}}) == {
        "prices": {"silver": 110}
    }
    assert await admin.call_ok("GET", "prices/test") == {"prices": {"silver": 110}}
    assert await admin.call_ok("GET", "prices/live") == {"prices": {}}


async def test_only_offered_terms_and_served_versions_are_accepted(admin: AdminClient) -> None:
    terms = await admin.call_ok("GET", "rake-terms")
    assert terms["offeredVersion"] == 1
    assert terms["text"]
    assert "agreedVersion" not in terms
    for version in (0, 2):
        check_refusal(await admin.call("POST", "rake-terms", {"version": version}), 400, None)
    assert (await admin.call_ok("POST", "rake-terms", {"version": 1}))["rakeTerms"][
        "agreedVersion"
    ] == 1
    check_refusal(
        await admin.call("POST", "rake-terms", {"version": 1}), 409, "terms_already_agreed"
    )
    for version in (0, 2, -1, 2**53):
        reply = await admin.call("POST", "api-version", {"environment": "test", "version": version})
        check_refusal(reply, 400, "unsupported_api_version")
    for wrong in ("1", 1.0, True, None):
        check_plain(
            await admin.call("POST", "api-version", {"environment": "test", "version": wrong}),
            "version",
        )
    assert await admin.call_ok("POST", "api-version", {"environment": "test", "version": 1}) == {
        "live": 1,
        "test": 1,
    }


async def test_switching_an_account_off_and_on_and_its_refusals(admin: AdminClient) -> None:
    check_refusal(await admin.call("POST", "account/reactivate"), 409, "account_active")
    assert (await admin.call_ok("POST", "account/deactivate"))["active"] is False
    check_refusal(await admin.call("POST", "account/deactivate"), 409, "account_inactive")
    await admin.call_ok(
        "POST", "origins", {"environment": "test", "origin": "http://localhost"}
    )  # admins may still write
    assert (await admin.call_ok("POST", "account/reactivate"))["active"] is True
    await admin.command(SwitchAccount(PLATFORM, False))
    check_refusal(await admin.call("POST", "account/reactivate"), 403, "role_forbidden")


async def test_an_account_that_an_admin_switched_off_can_still_be_suspended_by_the_platform(
    admin: AdminClient,
) -> None:
    await admin.call_ok("POST", "account/deactivate")
    await admin.command(SwitchAccount(PLATFORM, False))
    check_refusal(await admin.call("POST", "account/reactivate"), 403, "role_forbidden")
    assert (await admin.call_ok("GET", "account"))["active"] is False


@pytest.mark.parametrize(
    "path", ["keys", "members", "invites", "games", "events", "webhooks/test/attempts"]
)
async def test_every_list_refuses_a_bad_cursor_and_a_bad_limit(
    admin: AdminClient, path: str
) -> None:
    for cursor in ("", "x", "pgc1.a.b.c"):
        check_refusal(await admin.call("GET", f"{path}?cursor={cursor}"), 400, "invalid_cursor")
    for limit in ("0", "501", "x", "-1", "1.0"):
        check_plain(await admin.call("GET", f"{path}?limit={limit}"), "limit")
    first = await admin.call_ok("GET", f"{path}?limit=1")
    assert set(first) == {
        path.rpartition("/")[2] if "attempts" in path else path,
        "nextCursor",
        "hasMore",
    }


async def test_lists_are_read_page_by_page_and_a_cursor_is_valid_only_for_its_own_list(
    admin: AdminClient,
) -> None:
    for number in range(5):
        await admin.call_ok("POST", "keys", {"environment": "test", "label": f"k{number}"})
    for path, noun, key in (
        ("keys", "keys", "keyId"),
        ("events", "events", "eventId"),
        ("games", "games", "gameId"),
    ):
        whole = [entry[key] for entry in (await admin.call_ok("GET", path))[noun]]
        seen, cursor = [], None
        while True:
            page = await admin.call_ok(
                "GET", f"{path}?limit=2" + (f"&cursor={cursor}" if cursor else "")
            )
            seen += [entry[key] for entry in page[noun]]
            assert page["hasMore"] == (page["nextCursor"] is not None)
            cursor = page["nextCursor"]
            if cursor is None:
                break
            other = "members" if path != "members" else "keys"
            check_refusal(
                await admin.call("GET", f"{other}?cursor={cursor}"), 400, "invalid_cursor"
            )
        assert seen == whole
        assert len(set(seen)) == len(seen) > 1


async def test_every_write_is_in_the_event_log_with_who_did_it(admin: AdminClient) -> None:
    await admin.call_ok("POST", "origins", {"environment": "test", "origin": "http://localhost"})
    made = await admin.call_ok("POST", "keys", {"environment": "test", "label": "shop"})
    await admin.command(SetRate(PLATFORM, 400, None))
    events = (await admin.call_ok("GET", "events"))["events"]
    assert [(event["actor"], event["action"]) for event in events[:3]] == [
        ("platform", "rate.set")
        if events[0]["action"] == "rate.set"
        else ("platform", events[0]["action"]),
        (BOSS, "key.created"),
        (BOSS, "origin.added"),
    ]
    assert made["apiKey"] not in json.dumps(events)
    assert all(event["eventId"].startswith("evt_") and event["at"] > 0 for event in events)


async def test_each_admin_has_a_bucket(admin: AdminClient) -> None:
    await admin.add_member("dev", "developer")
    buckets, now = admin.service.core.parts.admin_admission, trio.current_time()
    while buckets.take(BOSS, now + 3600).allowed:  # a later time, so that none is regained
        pass
    refused = await admin.call("GET", "account")
    check_refusal(refused, 429, "rate_limited")
    assert int(refused.header("retry-after") or 0) >= 1
    assert (await admin.call_ok("GET", "account", who="dev"))["uid"] == "dev"


async def test_an_admin_resets_the_authenticator_of_another_one_but_not_their_own(
    admin: AdminClient,
) -> None:
    await admin.add_member("dev", "developer")
    assert (await admin.call_ok("DELETE", "members/dev/totp"))["uid"] == "dev"
    account = await admin.call_ok("GET", "account", who="dev")
    assert account["stepUp"] == {"enrolled": False}
    check_refusal(await admin.call("DELETE", f"members/{BOSS}/totp"), 403, "role_forbidden")
    check_refusal(await admin.call("DELETE", "members/nobody/totp"), 404, "member_not_found")


async def test_a_window_that_another_sign_in_of_the_same_member_opened_is_of_no_use(
    admin: AdminClient,
) -> None:
    other = admin.issuer.mint_token(person(BOSS), sid="another sign-in")
    body = {"environment": "test", "label": "theirs"}
    call = admin.service.public.call
    check_refusal(await call("POST", "/partner/admin/keys", other, body), 403, "step_up_required")
    assert await admin.call_ok("POST", "keys", body)
