"""Who may call the admin API, and what a write must name. A refused call changes nothing."""

from pgs.domain.factors import LOCK_S, MAX_WRONG_CODES
from pgs.domain.totp import STEP_S, code_at
from tests.journeys.admin_client import BOSS, AdminClient, open_admin, person
from tests.journeys.client import NOTHING, check_plain, check_refusal
from tests.journeys.places import Place
from tests.journeys.service import in_process


async def test_a_caller_without_a_valid_token_is_told_to_sign_in(admin: AdminClient) -> None:
    client = admin.service.public
    for token in (None, "x", "a.b.c", admin.issuer.mint_token(person(BOSS), email_verified=False)):
        reply = await client.call("GET", "/partner/admin/account", token)
        check_refusal(reply, 401, "sign_in_required")
        assert (reply.version, reply.header("www-authenticate")) == (1, "Bearer")


async def test_nobody_can_sign_in_without_an_issuer(place: Place) -> None:
    async with open_admin(place / "other") as admin:
        pass
    async with in_process(place / "other") as service:
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
    for number, wrong in enumerate(
        [
            "",
            "abcdef",
            "\uff11" * 6,
            "0000000",
            next(c for c in ("000000", "111111", "222222") if c not in right),
        ],
        start=1,
    ):
        check_refusal(
            await admin.call("POST", "totp/verify", {"code": wrong}, who="dev"),
            403,
            "invalid_code",
        )
        step_up = (await admin.call_ok("GET", "account", who="dev"))["stepUp"]
        left = MAX_WRONG_CODES - number
        assert step_up.get("triesLeft") == (left or None)
        assert ("lockedUntil" in step_up) == (left == 0)
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


async def test_every_kind_of_write_respects_the_revision(admin: AdminClient) -> None:
    before = await admin.call_ok("GET", "account")
    writes: tuple[tuple[str, str, object], ...] = (
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
    )
    for method, path, body in writes:
        reply = await admin.call(method, path, body, headers=[("If-Match", "0")])
        assert (reply.status, reply.reason) == (409, "partner_changed"), (method, path)
        check_refusal(reply, 409, "partner_changed")
        assert await admin.call_ok("GET", "account") == before, (method, path)
