"""Games, prices, terms and switching an account off: what the admin API refuses."""

import json

import trio

from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.actors.messages.account.settings import ChangeLicence, SetRate
from pgs.domain.members import PLATFORM
from tests.journeys.admin_client import BOSS, AdminClient, person
from tests.journeys.client import check_plain, check_refusal


async def test_games_are_switched_on_and_requested_and_each_wrong_call_is_refused_with_its_reason(
    admin: AdminClient,
) -> None:
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


async def test_prices_are_replaced_as_a_whole_and_each_wrong_map_is_refused_with_its_reason(
    admin: AdminClient,
) -> None:
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


async def test_an_account_is_switched_off_and_on_and_each_wrong_call_is_refused_with_its_reason(
    admin: AdminClient,
) -> None:
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


async def test_every_list_refuses_a_bad_cursor_and_a_bad_limit(admin: AdminClient) -> None:
    for path in ("keys", "members", "invites", "games", "events", "webhooks/test/attempts"):
        for query in ("cursor=", "cursor=x", "cursor=pgc1.a.b.c"):
            reply = await admin.call("GET", f"{path}?{query}")
            assert (reply.status, reply.reason) == (400, "invalid_cursor"), (path, query)
            check_refusal(reply, 400, "invalid_cursor")
        for limit in ("0", "501", "x", "-1", "1.0"):
            reply = await admin.call("GET", f"{path}?limit={limit}")
            assert reply.status == 400, (path, limit)
            check_plain(reply, "limit")
        first = await admin.call_ok("GET", f"{path}?limit=1")
        noun = path.rpartition("/")[2]
        assert set(first) == {noun, "nextCursor", "hasMore"}, path


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
    buckets, now = admin.service.core.directory.admission.admins, trio.current_time()
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


async def test_admins_alone_see_which_members_have_an_authenticator_in_force(
    admin: AdminClient,
) -> None:
    await admin.add_member("ann", "developer", "closed")
    await admin.add_member("dev", "developer", "none")
    await admin.add_member("val", "viewer", "none")
    await admin.call_ok("POST", "totp/enroll", who="val")  # pending: no code was given yet
    listed = (await admin.call_ok("GET", "members"))["members"]
    assert {member["uid"]: member["hasAuthenticator"] for member in listed} == {
        BOSS: True,
        "ann": True,
        "dev": False,
        "val": False,
    }
    await admin.call_ok("DELETE", "members/ann/totp")
    again = (await admin.call_ok("GET", "members"))["members"]
    assert [member["uid"] for member in again if member["hasAuthenticator"]] == [BOSS]
    for who in ("dev", "val"):
        seen = (await admin.call_ok("GET", "members", who=who))["members"]
        assert {tuple(member) for member in seen} == {("uid", "email", "role", "joinedAt")}


async def test_a_window_that_another_sign_in_of_the_same_member_opened_is_of_no_use(
    admin: AdminClient,
) -> None:
    other = admin.issuer.mint_token(person(BOSS), sid="another sign-in")
    body = {"environment": "test", "label": "theirs"}
    call = admin.service.public.call
    check_refusal(await call("POST", "/partner/admin/keys", other, body), 403, "step_up_required")
    assert await admin.call_ok("POST", "keys", body)
