"""Every call of the admin API by every role, with an authenticator in every state."""

import pytest

from pgs.domain.roles import ADMIN_RULES, ROLES, AdminRule, Role
from pgs.http.api.endpoint import Endpoint
from pgs.http.endpoint_table import ENDPOINTS
from tests.journeys.admin_client import STANDINGS, AdminClient, Standing, open_admin
from tests.journeys.client import Reply
from tests.journeys.places import Place

SERVED = [endpoint for endpoint in ENDPOINTS if endpoint.path.startswith("/partner/admin/")]
RULES = {(rule.method, rule.path): rule for rule in ADMIN_RULES}

AUTHORIZATION = {
    "not_a_partner_admin",
    "role_forbidden",
    "totp_not_enrolled",
    "step_up_required",
    "fresh_step_up_required",
}


def expected(rule: AdminRule, role: Role | None, standing: Standing) -> str | None:
    """Return the reason of the check that must refuse, in the specification's order."""
    if not rule.membership:
        return None
    if role is None:
        return "not_a_partner_admin"
    if role not in rule.roles:
        return "role_forbidden"
    if rule.step_up == "none" or (rule.once_enrolled and standing == "none"):
        return None
    if standing == "none":
        return "totp_not_enrolled"
    if standing == "closed":
        return "step_up_required"
    return "fresh_step_up_required" if rule.step_up == "fresh" and standing == "stale" else None


async def call_that_changes_nothing(admin: AdminClient, endpoint: Endpoint, who: str) -> Reply:
    """Make a call that reaches every check of its caller but changes nothing.

    Its body and its If-Match header are invalid, so a write fails after those checks.
    """
    path = endpoint.path.removeprefix("/partner/admin/").replace("{env}", "test")
    path = "/".join("nothing" if word.startswith("{") else word for word in path.split("/"))
    content = b"[]" if endpoint.request is not None else None
    return await admin.call(
        endpoint.method, path, who=who, headers=[("If-Match", "nothing")], content=content
    )


def test_every_admin_call_that_is_served_is_in_the_table_and_the_other_way_round() -> None:
    served = {(endpoint.method, endpoint.path) for endpoint in SERVED}
    assert served == RULES.keys()


def test_admin_calls_and_only_they_take_an_identity_token() -> None:
    assert {endpoint.path for endpoint in ENDPOINTS if endpoint.credential == "identity"} == {
        endpoint.path for endpoint in SERVED
    }
    assert all(endpoint.credential == "identity" for endpoint in SERVED)


async def test_every_call_by_every_role_and_authenticator_is_answered_as_the_table_says(
    place: Place,
) -> None:
    wrong, passed, cells = [], 0, 0
    async with open_admin(place) as admin:
        people: list[tuple[str, Role | None, Standing]] = [("stranger", None, "none")]
        for role in ROLES:
            for standing in STANDINGS:
                people.append(
                    (await admin.add_member(f"{role}-{standing}", role, standing), role, standing)
                )
        before = await admin.call_ok("GET", "account")
        for endpoint in SERVED:
            rule = RULES[endpoint.method, endpoint.path]
            holder: Role | None
            if endpoint.path == "/partner/admin/live":
                continue  # a stream, tested below
            for who, holder, standing in people:
                reply = await call_that_changes_nothing(admin, endpoint, who)
                must = expected(rule, holder, standing)
                got = reply.json.get("reason") if reply.status != 200 else None
                cells += 1
                passed += must is None
                if (got if got in AUTHORIZATION else None) != must or reply.status >= 500:
                    wrong.append(
                        (endpoint.method, endpoint.path, holder, standing, must, reply.status, got)
                    )
        assert await admin.call_ok("GET", "account") == before, "a call changed something"
    assert wrong == []
    assert cells == (len(SERVED) - 1) * (1 + len(ROLES) * len(STANDINGS))
    assert 0 < passed < cells


@pytest.mark.parametrize("role", [*ROLES, None])
async def test_only_members_may_read_the_stream(place: Place, role: Role | None) -> None:
    async with open_admin(place) as admin:
        who = await admin.add_member("somebody", role, "none") if role else "stranger"
        reply = await admin.call("GET", "live", who=who)
        assert reply.reason == ("missing_parameter" if role else "not_a_partner_admin")


async def test_the_caller_is_checked_before_the_body_and_the_names_in_the_path(
    place: Place,
) -> None:
    async with open_admin(place) as admin:
        await admin.add_member("val", "viewer", "fresh")
        for method, path in (
            ("PATCH", "members/nobody"),
            ("DELETE", "keys/none"),
            ("PUT", "prices/test"),
            ("POST", "keys"),
        ):
            assert (
                await admin.call(method, path, who="val", content=b"{")
            ).reason == "role_forbidden"


async def test_a_path_with_an_unknown_environment_does_not_exist(place: Place) -> None:
    async with open_admin(place) as admin:
        for who in ("boss", "stranger"):
            reply = await admin.call("GET", "prices/production", who=who)
            assert (reply.status, reply.reason) == (404, None)
