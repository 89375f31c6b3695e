"""What the event log shows to each role, and its pages."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.journeys.admin_client import BOSS, AdminClient, open_admin
from tests.journeys.places import Place


@pytest.fixture
async def admin(place: Place) -> AsyncIterator[AdminClient]:
    """An account with its first admin, and a member in each of the other roles."""
    async with open_admin(place) as opened:
        await opened.add_member("dev", "developer")
        await opened.add_member("val", "viewer")
        yield opened


async def pages(admin: AdminClient, who: str, limit: int) -> list[list[dict[str, Any]]]:
    """Return every page of the event log as a member reads it."""
    found, cursor = [], ""
    while True:
        page = await admin.call_ok("GET", f"events?limit={limit}{cursor}", who=who)
        found.append(page["events"])
        assert page["hasMore"] == (page["nextCursor"] is not None)
        if not page["hasMore"]:
            return found
        cursor = f"&cursor={page['nextCursor']}"


async def invite_and_revoke(admin: AdminClient, number: int) -> None:
    invite = await admin.invite(f"guest{number}", "viewer")
    await admin.call_ok("DELETE", f"invites/{invite.invite_id}")


@pytest.mark.parametrize("who", ["dev", "val"])
async def test_only_admins_see_entries_about_invites(admin: AdminClient, who: str) -> None:
    await invite_and_revoke(admin, 1)
    (everything,) = await pages(admin, BOSS, 100)
    actions = {entry["action"] for entry in everything}
    assert {"invite.created", "invite.accepted", "invite.revoked"} <= actions
    (seen,) = await pages(admin, who, 100)
    assert seen == [entry for entry in everything if not entry["action"].startswith("invite.")]
    assert "guest1" not in repr(seen)


async def test_pages_for_members_who_see_no_invites_are_full_and_lead_to_the_end(
    admin: AdminClient,
) -> None:
    for number in range(5):  # 5 visible entries among 10 about invites
        await invite_and_revoke(admin, number)
        await admin.call_ok(
            "POST", "origins", {"environment": "test", "origin": f"https://o{number}.example"}
        )
    (everything,) = await pages(admin, BOSS, 100)
    visible = [entry for entry in everything if not entry["action"].startswith("invite.")]
    paged = await pages(admin, "val", 2)
    assert [entry for page in paged for entry in page] == visible
    assert [len(page) for page in paged[:-1]] == [2] * (len(paged) - 1)
    assert 1 <= len(paged[-1]) <= 2


async def test_a_cursor_stays_valid_when_its_reader_is_no_longer_an_admin(
    admin: AdminClient,
) -> None:
    await admin.add_member("eve", "admin")
    for number in range(3):
        await invite_and_revoke(admin, number)
    first = await admin.call_ok("GET", "events?limit=1", who="eve")
    assert first["events"][0]["action"] == "invite.revoked"
    await admin.call_ok("PATCH", "members/eve", {"role": "viewer"})
    rest = await admin.call_ok("GET", f"events?cursor={first['nextCursor']}", who="eve")
    assert [entry["action"] for entry in rest["events"]] == ["account.created"]
