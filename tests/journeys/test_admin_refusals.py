"""Every refusal of each kind of admin write, caused over HTTP. A refused call changes nothing."""

import json
from pathlib import Path

from pgs.actors.messages.account.lifecycle import CreatePartner
from pgs.actors.messages.account.settings import AddOrigin
from pgs.devissuer.people import Person
from pgs.domain.environments import ENVIRONMENTS
from pgs.domain.invites import INVITE_S, Invite
from pgs.domain.members import UID_MAX
from pgs.storage.invites import insert_invite
from pgs.storage.transactions import Tx
from tests.journeys.admin_client import BOSS, AdminClient, person
from tests.journeys.client import NOTHING, check_plain, check_refusal

ORIGIN_CASES = json.loads(
    (Path(__file__).parents[1] / "cases" / "origin_cases.json").read_text(encoding="utf-8")
)


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


async def test_origins_are_added_and_removed_and_each_wrong_call_is_refused_with_its_reason(
    admin: AdminClient,
) -> None:
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


async def test_webhooks_are_saved_and_switched_off_and_each_wrong_call_is_refused_with_its_reason(
    admin: AdminClient,
) -> None:
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


async def test_keys_are_created_rotated_and_revoked_and_each_wrong_call_is_refused_with_its_reason(
    admin: AdminClient,
) -> None:
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


async def test_members_get_other_roles_and_each_wrong_call_is_refused_with_its_reason(
    admin: AdminClient,
) -> None:
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


async def test_invites_are_accepted_and_revoked_and_each_wrong_call_is_refused_with_its_reason(
    admin: AdminClient,
) -> None:
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


async def test_a_domain_is_set_once_and_must_be_that_of_the_callers_address(
    admin: AdminClient,
) -> None:
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
