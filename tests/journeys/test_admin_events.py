"""What the event log shows to each role, and its pages."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.office import BOSS, Office, open_office


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    """An account with its first admin, and a member in each of the other roles."""
    async with open_office(tmp_path) as opened:
        await opened.join("dev", "developer")
        await opened.join("val", "viewer")
        yield opened


async def pages(office: Office, who: str, limit: int) -> list[list[dict[str, Any]]]:
    """Return every page of the event log as a member reads it."""
    found, cursor = [], ""
    while True:
        page = await office.done("GET", f"events?limit={limit}{cursor}", who=who)
        found.append(page["events"])
        assert page["hasMore"] == (page["nextCursor"] is not None)
        if not page["hasMore"]:
            return found
        cursor = f"&cursor={page['nextCursor']}"


async def invite_and_revoke(office: Office, number: int) -> None:
    invite = await office.invited(f"guest{number}", "viewer")
    await office.done("DELETE", f"invites/{invite.invite_id}")


@pytest.mark.parametrize("who", ["dev", "val"])
async def test_only_admins_see_entries_about_invites(office: Office, who: str) -> None:
    await invite_and_revoke(office, 1)
    (everything,) = await pages(office, BOSS, 100)
    actions = {entry["action"] for entry in everything}
    assert {"invite.created", "invite.accepted", "invite.revoked"} <= actions
    (seen,) = await pages(office, who, 100)
    assert seen == [entry for entry in everything if not entry["action"].startswith("invite.")]
    assert "guest1" not in repr(seen)


async def test_pages_for_members_who_see_no_invites_are_full_and_lead_to_the_end(
    office: Office,
) -> None:
    for number in range(5):  # five entries among twice as many about invites
        await invite_and_revoke(office, number)
        await office.done(
            "POST", "origins", {"environment": "test", "origin": f"https://o{number}.example"}
        )
    (everything,) = await pages(office, BOSS, 100)
    visible = [entry for entry in everything if not entry["action"].startswith("invite.")]
    paged = await pages(office, "val", 2)
    assert [entry for page in paged for entry in page] == visible
    assert [len(page) for page in paged[:-1]] == [2] * (len(paged) - 1)
    assert 1 <= len(paged[-1]) <= 2


async def test_a_cursor_stays_good_when_its_reader_is_no_longer_an_admin(office: Office) -> None:
    await office.join("eve", "admin")
    for number in range(3):
        await invite_and_revoke(office, number)
    first = await office.done("GET", "events?limit=1", who="eve")
    assert first["events"][0]["action"] == "invite.revoked"
    await office.done("PATCH", "members/eve", {"role": "viewer"})
    rest = await office.done("GET", f"events?cursor={first['nextCursor']}", who="eve")
    assert [entry["action"] for entry in rest["events"]] == ["account.created"]
