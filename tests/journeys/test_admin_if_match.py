"""`If-Match` on every write of the admin API: checked after the caller, before body and path."""

import trio

from pgs.actors.messages.account.lifecycle import CreatePartner
from pgs.domain.roles import ADMIN_RULES
from pgs.http.api.endpoint import Endpoint
from pgs.http.endpoint_table import ENDPOINTS
from tests.journeys.admin_client import (
    BOSS,
    AdminClient,
    open_admin_with_webhook,
    person,
)
from tests.journeys.client import NOTHING, Reply, check_refusal
from tests.journeys.places import Place

WRITES = [
    endpoint
    for endpoint in ENDPOINTS
    if endpoint.path.startswith("/partner/admin/") and endpoint.method != "GET"
]
RULES = {(rule.method, rule.path): rule for rule in ADMIN_RULES}
OF_THE_ACCOUNT = [
    endpoint for endpoint in WRITES if RULES[endpoint.method, endpoint.path].membership
]
MALFORMED = ("x", "", "1.0", '"1', "*", 'W/"1"', "-1", "1, 2", "\uff11", "9" * 19)


def name(endpoint: Endpoint) -> str:
    return f"{endpoint.method} {endpoint.path}"


async def write(admin: AdminClient, endpoint: Endpoint, *revisions: str, who: str = BOSS) -> Reply:
    """Make a call without a body. Its path names something that does not exist."""
    path = endpoint.path.removeprefix("/partner/admin/").replace("{env}", "test")
    path = "/".join("nothing" if word.startswith("{") else word for word in path.split("/"))
    content = b"{" if endpoint.request is not None else None
    headers = [("If-Match", revision.encode()) for revision in revisions]
    return await admin.call(endpoint.method, path, who=who, headers=headers, content=content)


def test_the_endpoint_table_contains_writes() -> None:
    assert len(OF_THE_ACCOUNT) == len(WRITES) - 1 > 20
    assert {name(endpoint) for endpoint in WRITES if endpoint not in OF_THE_ACCOUNT} == {
        "POST /partner/admin/invites/{invite_id}/accept"
    }


async def test_a_revision_that_is_no_integer_is_a_plain_400_on_every_write(
    admin: AdminClient,
) -> None:
    before = await admin.call_ok("GET", "account")
    for endpoint in WRITES:
        for revisions in [(text,) for text in MALFORMED] + [(str(before["revision"]),) * 2]:
            reply = await write(admin, endpoint, *revisions)
            if reply.reason == "rate_limited":  # there are more writes than an admin's burst
                await trio.sleep(2)
                reply = await write(admin, endpoint, *revisions)
            check_refusal(reply, 400, None)
            assert "If-Match" in reply.json["error"], (name(endpoint), revisions)
    assert await admin.call_ok("GET", "account") == before


async def test_a_stale_revision_is_partner_changed_on_every_write(admin: AdminClient) -> None:
    before = await admin.call_ok("GET", "account")
    for endpoint in OF_THE_ACCOUNT:
        for revision in (before["revision"] - 1, before["revision"] + 1, 10**18 - 1):
            for spelling in ("%d", '"%d"'):
                reply = await write(admin, endpoint, spelling % revision)
                assert (reply.status, reply.reason) == (409, "partner_changed"), name(endpoint)
    assert await admin.call_ok("GET", "account") == before


async def test_the_current_revision_lets_every_write_go_on_to_its_own_checks(
    admin: AdminClient,
) -> None:
    for endpoint in WRITES:
        if endpoint.path.rpartition("/")[2] in ("deactivate", "reactivate"):
            continue  # these would succeed; other tests make them
        await admin.set_standing(BOSS, "fresh")
        revision = (await admin.call_ok("GET", "account"))["revision"]
        reply = await write(admin, endpoint, str(revision))
        assert reply.reason != "partner_changed", name(endpoint)
        assert "If-Match" not in reply.json.get("error", ""), name(endpoint)


async def test_the_caller_is_checked_before_the_revision_on_every_write(admin: AdminClient) -> None:
    await admin.add_member("val", "viewer", "none")
    seen = set()
    for endpoint in OF_THE_ACCOUNT:
        rule = RULES[endpoint.method, endpoint.path]
        for revision in ("x", "0"):
            check_refusal(
                await write(admin, endpoint, revision, who="stranger"), 403, "not_a_partner_admin"
            )
            if "viewer" not in rule.roles:
                check_refusal(
                    await write(admin, endpoint, revision, who="val"), 403, "role_forbidden"
                )
            if rule.step_up != "none":
                await admin.set_standing(BOSS, "closed")
                check_refusal(await write(admin, endpoint, revision), 403, "step_up_required")
                await admin.set_standing(BOSS, "fresh")
                seen.add(name(endpoint))
    assert len(seen) > 15


async def test_reads_ignore_if_match(admin: AdminClient) -> None:
    await admin.call_ok("GET", "account", headers=[("If-Match", "x")])
    await admin.call_ok("GET", "events", headers=[("If-Match", "0")])


# --- a test event: a write that changes no account ---


async def test_a_test_event_with_a_stale_revision_is_not_sent(place: Place) -> None:
    async with open_admin_with_webhook(place) as (admin, inbox):
        inbox.secret = (await admin.call_ok("POST", "webhooks/test", {"url": inbox.url}))[
            "signingSecret"
        ]
        seen = (await admin.call_ok("GET", "account"))["revision"]
        for stale in (seen - 1, seen + 1):
            reply = await admin.call(
                "POST", "webhooks/test/test", headers=[("If-Match", str(stale))]
            )
            check_refusal(reply, 409, "partner_changed")
        assert (await admin.call_ok("GET", "webhooks/test/attempts"))["attempts"] == []
        sent = await admin.call_ok(
            "POST", "webhooks/test/test", headers=[("If-Match", f'"{seen}"')]
        )
        assert (sent["test"], sent["delivered"]) == (True, True)
        # The account has not changed, so its earlier revision is still current.
        assert (await admin.call_ok("GET", "account"))["revision"] == seen


# --- accepting an invite: the revision is that of the inviting account ---


async def test_accepting_an_invite_checks_the_revision_of_the_inviting_account(
    admin: AdminClient,
) -> None:
    made = await admin.invite("new", "viewer")
    path = f"invites/{made.invite_id}/accept"
    reply = await admin.call("POST", path, who="new", headers=[("If-Match", "x")])
    check_refusal(reply, 400, None)
    check_refusal(
        await admin.call("POST", "invites/ivt_no/accept", who="new", headers=[("If-Match", "0")]),
        404,
        "invite_not_found",
    )
    revision = (await admin.call_ok("GET", "account"))["revision"]
    check_refusal(
        await admin.call("POST", path, who="new", headers=[("If-Match", str(revision - 1))]),
        409,
        "partner_changed",
    )
    assert (await admin.call("GET", "account", who="new")).reason == "not_a_partner_admin"
    assert (
        await admin.call_ok("POST", path, NOTHING, who="new", headers=[("If-Match", str(revision))])
    )["status"] == "accepted"


async def test_accepting_another_accounts_invite_ignores_the_revision_of_the_callers_account(
    admin: AdminClient,
) -> None:
    created = await admin.command(CreatePartner("Other", person(BOSS).email), "other")
    account, invite_id = created.account, created.invite_id
    own = (await admin.call_ok("GET", "account"))["revision"]
    assert own != account.revision
    for revision, reason in (
        (own, "partner_changed"),
        (account.revision, "already_administers_another_partner"),
    ):
        reply = await admin.call(
            "POST", f"invites/{invite_id}/accept", headers=[("If-Match", str(revision))]
        )
        check_refusal(reply, 409, reason)


async def test_what_is_read_carries_a_revision_that_a_write_may_name(admin: AdminClient) -> None:
    for place in ("account", "keys", "games", "prices/test", "matches?environment=test"):
        read = await admin.call("GET", place)
        revision = (await admin.call_ok("GET", "account"))["revision"]
        assert read.header("account-revision") == str(revision), place
        body = {"environment": "test", "origin": f"https://{place[:4]}.example"}
        seen = [("If-Match", str(revision).encode())]
        assert (await admin.call("POST", "origins", body, headers=seen)).status == 200
        refused = await admin.call("POST", "origins", body, headers=seen)
        check_refusal(refused, 409, "partner_changed")
    assert (await admin.call("GET", "invites/mine", who="stranger")).status == 200
    assert (await admin.call("GET", "nothing")).header("account-revision") is None
