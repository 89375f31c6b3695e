"""Members of one account who act at the same moment, over HTTP.

The result is always the same as if the calls had been made one after the other.
"""

from collections import Counter
from functools import partial
from typing import Any

import pytest
import trio

from pgs.actors.messages.account.lifecycle import CreatePartner
from pgs.actors.messages.account.members import RemoveMember
from pgs.domain.members import PLATFORM
from pgs.domain.totp import code_at
from tests.journeys.admin_client import BOSS, AdminClient, person
from tests.journeys.client import NOTHING, Reply

ROUNDS = 10
AT_ONCE = 20


async def at_once(
    admin: AdminClient, *calls: tuple[str, str, str, object], **how: Any
) -> list[Reply]:
    """Make calls (who, method, path, body) at the same time; return their answers."""
    replies: dict[int, Reply] = {}
    async with trio.open_nursery() as nursery:
        for number, (who, method, path, body) in enumerate(calls):

            async def make(number: int, work: Any) -> None:
                replies[number] = await work()

            nursery.start_soon(
                make, number, partial(admin.call, method, path, body, who=who, **how)
            )
    return [replies[number] for number in range(len(calls))]


def outcomes(replies: list[Reply]) -> Counter[str | None]:
    """Count reasons; a success is "done"."""
    assert all(reply.status < 500 for reply in replies)
    return Counter("done" if reply.status == 200 else reply.reason for reply in replies)


async def roles(admin: AdminClient) -> dict[str, str]:
    account = admin.service.core.parts.registry.account("acme")
    assert account is not None
    return {uid: member.role for uid, member in account.members.items()}


@pytest.mark.exhaustive
async def test_one_code_used_many_times_at_once_opens_the_window_once(
    admin: AdminClient,
) -> None:
    for number in range(AT_ONCE):
        uid = await admin.add_member(f"dev{number}", "developer", "none")
        secret = await admin.enrol(uid)
        code = code_at(secret, admin.service.core.parts.clock.now())
        replies = await at_once(admin, *[(uid, "POST", "totp/verify", {"code": code})] * AT_ONCE)
        assert outcomes(replies) == {"done": 1, "invalid_code": AT_ONCE - 1}, number
        assert "lockedUntil" not in (await admin.call_ok("GET", "account", who=uid))["stepUp"]


async def test_only_five_of_many_simultaneous_guesses_are_checked(admin: AdminClient) -> None:
    uid = await admin.add_member("dev", "developer", "none")
    secret = await admin.enrol(uid)
    now = admin.service.core.parts.clock.now()
    right = {code_at(secret, now + step * 30) for step in range(-2, 4)}
    wrong = [
        code for code in (f"{number:06}" for number in range(AT_ONCE + 6)) if code not in right
    ][:AT_ONCE]
    replies = await at_once(
        admin, *[(uid, "POST", "totp/verify", {"code": code}) for code in wrong]
    )
    assert outcomes(replies) == {"invalid_code": 5, "step_up_locked": AT_ONCE - 5}


@pytest.mark.parametrize(("method", "body"), [("PATCH", {"role": "viewer"}), ("DELETE", NOTHING)])
async def test_two_admins_who_remove_each_other_at_once_leave_one(
    admin: AdminClient, method: str, body: object
) -> None:
    last = BOSS
    for number in range(ROUNDS):
        pair = [await admin.add_member(f"{name}{number}", "admin") for name in ("ada", "ben")]
        await admin.command(RemoveMember(PLATFORM, last))
        replies = await at_once(
            admin, *((uid, method, f"members/{other}", body) for uid, other in (pair, pair[::-1]))
        )
        found = outcomes(replies)
        assert found.pop("done") == 1
        assert found.keys() <= (
            {"role_forbidden"}
            if method == "PATCH"
            else {"not_a_partner_admin", "totp_not_enrolled"}
        ), found
        (last,) = (uid for uid, role in (await roles(admin)).items() if role == "admin")
        assert last in pair


async def test_two_admins_who_step_down_at_once_leave_one(admin: AdminClient) -> None:
    await admin.add_member("ada", "admin")
    replies = await at_once(
        admin, *((uid, "PATCH", f"members/{uid}", {"role": "viewer"}) for uid in (BOSS, "ada"))
    )
    assert outcomes(replies) == {"done": 1, "last_admin": 1}
    assert sorted((await roles(admin)).values()) == ["admin", "viewer"]


async def test_an_invite_is_accepted_or_revoked_and_never_both(admin: AdminClient) -> None:
    seen: Counter[bool] = Counter()
    for number in range(ROUNDS):
        uid = f"dev{number}"
        invite = (await admin.invite(uid, "developer")).invite_id
        calls = [
            (uid, "POST", f"invites/{invite}/accept", NOTHING),
            (BOSS, "DELETE", f"invites/{invite}", NOTHING),
        ]
        accepted, revoked = (
            await at_once(admin, *calls)
            if number % 2
            else (await at_once(admin, *calls[::-1]))[::-1]
        )
        joined = uid in await roles(admin)
        seen[joined] += 1
        if joined:
            assert (accepted.status, revoked.reason) == (200, "already_accepted")
        else:
            assert (accepted.reason, revoked.status) == ("invite_not_found", 200)
        assert (await admin.call("GET", "account", who=uid)).status == (200 if joined else 403)
    assert sum(seen.values()) == ROUNDS


async def test_one_invite_makes_one_member_however_many_have_its_address(
    admin: AdminClient,
) -> None:
    for number in range(ROUNDS):
        twins = [f"twin{number}{letter}" for letter in ("1", "2", "3")]
        assert len({person(uid).email for uid in twins}) == 1
        invite = (await admin.invite(twins[0], "developer")).invite_id
        replies = await at_once(
            admin, *((uid, "POST", f"invites/{invite}/accept", NOTHING) for uid in twins)
        )
        assert outcomes(replies) == {"done": 1, "already_accepted": 2}
        assert len(set(twins) & set(await roles(admin))) == 1


async def test_nobody_becomes_a_member_of_two_accounts_or_twice_of_one(admin: AdminClient) -> None:
    for number in range(ROUNDS):
        uid, other = f"dev{number}", f"other-{number}"
        theirs = await admin.command(CreatePartner("Other", person(uid).email), other)
        invites = [
            (await admin.invite(uid, "viewer")).invite_id,
            (await admin.invite(uid, "admin")).invite_id,
            theirs.invite_id,
        ]
        replies = await at_once(
            admin, *((uid, "POST", f"invites/{invite}/accept", NOTHING) for invite in invites)
        )
        found = outcomes(replies)
        assert found["done"] == 1
        assert found["already_a_member"] + found["already_administers_another_partner"] == 2
        assert (await admin.call("GET", "account", who=uid)).status == 200
        # A node hears of the members of another node's accounts only some time later.
        known = [
            admin.service.core_of(partner_id).parts.registry.account(partner_id)
            for partner_id in ("acme", other)
        ]
        assert sum(account is not None and uid in account.members for account in known) == 1


async def test_a_key_that_is_rotated_many_times_at_once_is_rotated_once(admin: AdminClient) -> None:
    made = await admin.call_ok("POST", "keys", {"environment": "test", "label": "shop"})
    replies = await at_once(
        admin, *[(BOSS, "POST", f"keys/{made['keyId']}/rotate", NOTHING)] * AT_ONCE
    )
    assert outcomes(replies) == {"done": 1, "key_not_active": AT_ONCE - 1}
    listed = (await admin.call_ok("GET", "keys"))["keys"]
    assert Counter(key["status"] for key in listed) == {"active": 1, "scheduled": 1}
    assert [key["createdBy"] for key in listed] == [BOSS, BOSS]


async def test_a_key_that_is_rotated_and_revoked_at_once_is_revoked(admin: AdminClient) -> None:
    for number in range(ROUNDS):
        made = await admin.call_ok("POST", "keys", {"environment": "test", "label": f"k{number}"})
        calls = [
            (BOSS, "POST", f"keys/{made['keyId']}/rotate", NOTHING),
            (BOSS, "DELETE", f"keys/{made['keyId']}", NOTHING),
        ]
        rotated, revoked = await at_once(admin, *calls)
        assert revoked.status == 200
        assert rotated.status == 200 or rotated.reason == "key_not_active"
        assert (await admin.service.public.call("GET", "/partner/me", made["apiKey"])).status == 401
        if rotated.status == 200:
            assert (
                await admin.service.public.call("GET", "/partner/me", rotated.json["apiKey"])
            ).status == 200


async def test_only_one_of_several_writes_with_the_same_revision_succeeds(
    admin: AdminClient,
) -> None:
    revision = (await admin.call_ok("GET", "account"))["revision"]
    calls = [
        (BOSS, "POST", "keys", {"environment": "test", "label": f"k{number}"})
        for number in range(AT_ONCE)
    ]
    replies = await at_once(admin, *calls, headers=[("If-Match", str(revision))])
    assert outcomes(replies) == {"done": 1, "partner_changed": AT_ONCE - 1}
    assert len((await admin.call_ok("GET", "keys"))["keys"]) == 1


async def test_a_webhook_that_is_saved_many_times_at_once_has_one_secret(
    admin: AdminClient,
) -> None:
    replies = await at_once(
        admin, *[(BOSS, "POST", "webhooks/test", {"url": "https://hooks.acme.com/"})] * AT_ONCE
    )
    assert outcomes(replies) == {"done": AT_ONCE}
    assert sum("signingSecret" in reply.json for reply in replies) == 1


async def test_a_removed_member_creates_no_key_after_the_removal(admin: AdminClient) -> None:
    for number in range(ROUNDS):
        uid = await admin.add_member(f"dev{number}", "developer")
        mints = [
            (uid, "POST", "keys", {"environment": "test", "label": f"{uid}-{mint}"})
            for mint in range(5)
        ]
        replies = await at_once(
            admin, *mints[:3], (BOSS, "DELETE", f"members/{uid}", NOTHING), *mints[3:]
        )
        # Between the commit and the publication of a removal, the check of step-up finds no
        # authenticator for the member.
        assert set(outcomes(replies)) <= {"done", "not_a_partner_admin", "totp_not_enrolled"}
        events = (await admin.call_ok("GET", "events?limit=7"))["events"]
        log = [(event["actor"], event["action"]) for event in events]
        removal = log.index((BOSS, "member.removed"))
        assert (uid, "key.created") not in log[:removal], (
            "the removed member created a key after the removal"
        )
