"""Members of one account who act at the same moment, over HTTP.

The result is always one that some order of the calls would give.
"""

from collections import Counter
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from pgs.actors.messages.account.lifecycle import CreatePartner
from pgs.actors.messages.account.people import RemoveMember
from pgs.domain.members import PLATFORM
from pgs.domain.totp import code_at
from tests.journeys.client import NOTHING, Reply
from tests.journeys.office import BOSS, Office, open_office, person

ROUNDS = 10
AT_ONCE = 20


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    """An account with its first admin, whose step-up window is fresh."""
    async with open_office(tmp_path) as opened:
        yield opened


async def at_once(office: Office, *calls: tuple[str, str, str, object], **how: Any) -> list[Reply]:
    """Return the answers to calls (who, method, path, body), all sent before the first answer."""
    replies: dict[int, Reply] = {}
    async with trio.open_nursery() as nursery:
        for number, (who, method, path, body) in enumerate(calls):

            async def make(number: int, work: Any) -> None:
                replies[number] = await work()

            nursery.start_soon(
                make, number, partial(office.call, method, path, body, who=who, **how)
            )
    return [replies[number] for number in range(len(calls))]


def outcomes(replies: list[Reply]) -> Counter[str | None]:
    """Count reasons; a success is "done"."""
    assert all(reply.status < 500 for reply in replies)
    return Counter("done" if reply.status == 200 else reply.reason for reply in replies)


async def roles(office: Office) -> dict[str, str]:
    account = office.service.core.parts.registry.account("acme")
    assert account is not None
    return {uid: member.role for uid, member in account.members.items()}


@pytest.mark.exhaustive
async def test_of_many_uses_of_one_code_at_once_exactly_one_opens_the_window(
    office: Office,
) -> None:
    for number in range(AT_ONCE):
        uid = await office.join(f"dev{number}", "developer", "none")
        secret = await office.enrol(uid)
        code = code_at(secret, office.service.core.parts.clock.now())
        replies = await at_once(office, *[(uid, "POST", "totp/verify", {"code": code})] * AT_ONCE)
        assert outcomes(replies) == {"done": 1, "invalid_code": AT_ONCE - 1}, number
        assert "lockedUntil" not in (await office.done("GET", "account", who=uid))["stepUp"]


async def test_of_many_guesses_at_once_five_are_checked(office: Office) -> None:
    uid = await office.join("dev", "developer", "none")
    secret = await office.enrol(uid)
    now = office.service.core.parts.clock.now()
    right = {code_at(secret, now + step * 30) for step in range(-2, 4)}
    wrong = [
        code for code in (f"{number:06}" for number in range(AT_ONCE + 6)) if code not in right
    ][:AT_ONCE]
    replies = await at_once(
        office, *[(uid, "POST", "totp/verify", {"code": code}) for code in wrong]
    )
    assert outcomes(replies) == {"invalid_code": 5, "step_up_locked": AT_ONCE - 5}


@pytest.mark.parametrize(("method", "body"), [("PATCH", {"role": "viewer"}), ("DELETE", NOTHING)])
async def test_two_admins_who_remove_each_other_at_once_leave_one(
    office: Office, method: str, body: object
) -> None:
    last = BOSS
    for number in range(ROUNDS):
        pair = [await office.join(f"{name}{number}", "admin") for name in ("ada", "ben")]
        await office.command(RemoveMember(PLATFORM, last))
        replies = await at_once(
            office, *((uid, method, f"members/{other}", body) for uid, other in (pair, pair[::-1]))
        )
        found = outcomes(replies)
        assert found.pop("done") == 1
        assert found.keys() <= (
            {"role_forbidden"}
            if method == "PATCH"
            else {"not_a_partner_admin", "totp_not_enrolled"}
        ), found
        (last,) = (uid for uid, role in (await roles(office)).items() if role == "admin")
        assert last in pair


async def test_two_admins_who_step_down_at_once_leave_one(office: Office) -> None:
    await office.join("ada", "admin")
    replies = await at_once(
        office, *((uid, "PATCH", f"members/{uid}", {"role": "viewer"}) for uid in (BOSS, "ada"))
    )
    assert outcomes(replies) == {"done": 1, "last_admin": 1}
    assert sorted((await roles(office)).values()) == ["admin", "viewer"]


async def test_an_invite_is_accepted_or_revoked_and_never_both(office: Office) -> None:
    seen: Counter[bool] = Counter()
    for number in range(ROUNDS):
        uid = f"dev{number}"
        invite = (await office.invited(uid, "developer")).invite_id
        calls = [
            (uid, "POST", f"invites/{invite}/accept", NOTHING),
            (BOSS, "DELETE", f"invites/{invite}", NOTHING),
        ]
        accepted, revoked = (
            await at_once(office, *calls)
            if number % 2
            else (await at_once(office, *calls[::-1]))[::-1]
        )
        joined = uid in await roles(office)
        seen[joined] += 1
        if joined:
            assert (accepted.status, revoked.reason) == (200, "already_accepted")
        else:
            assert (accepted.reason, revoked.status) == ("invite_not_found", 200)
        assert (await office.call("GET", "account", who=uid)).status == (200 if joined else 403)
    assert sum(seen.values()) == ROUNDS


async def test_one_invite_makes_one_member_however_many_have_its_address(office: Office) -> None:
    for number in range(ROUNDS):
        twins = [f"twin{number}{letter}" for letter in ("1", "2", "3")]
        assert len({person(uid).email for uid in twins}) == 1
        invite = (await office.invited(twins[0], "developer")).invite_id
        replies = await at_once(
            office, *((uid, "POST", f"invites/{invite}/accept", NOTHING) for uid in twins)
        )
        assert outcomes(replies) == {"done": 1, "already_accepted": 2}
        assert len(set(twins) & set(await roles(office))) == 1


async def test_nobody_becomes_a_member_of_two_accounts_or_twice_of_one(office: Office) -> None:
    for number in range(ROUNDS):
        uid, other = f"dev{number}", f"other-{number}"
        theirs = await office.command(CreatePartner("Other", person(uid).email), other)
        invites = [
            (await office.invited(uid, "viewer")).invite_id,
            (await office.invited(uid, "admin")).invite_id,
            theirs.invite_id,
        ]
        replies = await at_once(
            office, *((uid, "POST", f"invites/{invite}/accept", NOTHING) for invite in invites)
        )
        found = outcomes(replies)
        assert found["done"] == 1
        assert found["already_a_member"] + found["already_administers_another_partner"] == 2
        assert (await office.call("GET", "account", who=uid)).status == 200
        registry = office.service.core.parts.registry
        assert sum(uid in account.members for account in registry.accounts()) == 1


async def test_a_key_is_rotated_once(office: Office) -> None:
    made = await office.done("POST", "keys", {"environment": "test", "label": "shop"})
    replies = await at_once(
        office, *[(BOSS, "POST", f"keys/{made['keyId']}/rotate", NOTHING)] * AT_ONCE
    )
    assert outcomes(replies) == {"done": 1, "key_not_active": AT_ONCE - 1}
    listed = (await office.done("GET", "keys"))["keys"]
    assert Counter(key["status"] for key in listed) == {"active": 1, "scheduled": 1}


async def test_a_key_that_is_rotated_and_revoked_at_once_is_revoked(office: Office) -> None:
    for number in range(ROUNDS):
        made = await office.done("POST", "keys", {"environment": "test", "label": f"k{number}"})
        calls = [
            (BOSS, "POST", f"keys/{made['keyId']}/rotate", NOTHING),
            (BOSS, "DELETE", f"keys/{made['keyId']}", NOTHING),
        ]
        rotated, revoked = await at_once(office, *calls)
        assert revoked.status == 200
        assert rotated.status == 200 or rotated.reason == "key_not_active"
        assert (
            await office.service.public.call("GET", "/partner/me", made["apiKey"])
        ).status == 401
        if rotated.status == 200:
            assert (
                await office.service.public.call("GET", "/partner/me", rotated.json["apiKey"])
            ).status == 200


async def test_of_writes_that_saw_the_same_revision_one_counts(office: Office) -> None:
    revision = (await office.done("GET", "account"))["revision"]
    calls = [
        (BOSS, "POST", "keys", {"environment": "test", "label": f"k{number}"})
        for number in range(AT_ONCE)
    ]
    replies = await at_once(office, *calls, headers=[("If-Match", str(revision))])
    assert outcomes(replies) == {"done": 1, "partner_changed": AT_ONCE - 1}
    assert len((await office.done("GET", "keys"))["keys"]) == 1


async def test_a_webhook_that_is_saved_many_times_at_once_has_one_secret(office: Office) -> None:
    replies = await at_once(
        office, *[(BOSS, "POST", "webhooks/test", {"url": "https://hooks.acme.com/"})] * AT_ONCE
    )
    assert outcomes(replies) == {"done": AT_ONCE}
    assert sum("signingSecret" in reply.json for reply in replies) == 1


async def test_a_removed_member_mints_nothing_afterwards(office: Office) -> None:
    for number in range(ROUNDS):
        uid = await office.join(f"dev{number}", "developer")
        mints = [
            (uid, "POST", "keys", {"environment": "test", "label": f"{uid}-{mint}"})
            for mint in range(5)
        ]
        replies = await at_once(
            office, *mints[:3], (BOSS, "DELETE", f"members/{uid}", NOTHING), *mints[3:]
        )
        # Between the commit that removes somebody and its publication, the gates find no
        # authenticator.
        assert set(outcomes(replies)) <= {"done", "not_a_partner_admin", "totp_not_enrolled"}
        events = (await office.done("GET", "events?limit=7"))["events"]
        log = [(event["actor"], event["action"]) for event in events]
        removal = log.index((BOSS, "member.removed"))
        assert (uid, "key.created") not in log[:removal], (
            "newest first: nothing of theirs comes after"
        )
