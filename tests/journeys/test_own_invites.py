"""Finding the invites to one's own address, as a member of an account or of none."""

from pathlib import Path

from pgs.actors.messages.account.lifecycle import CreatePartner
from pgs.actors.messages.account.people import CreateInvite, RevokeInvite
from tests.journeys.admin_client import BOSS, open_admin
from tests.journeys.client import check_refusal


async def test_a_stranger_finds_the_pending_invites_to_their_address_and_no_others(
    tmp_path: Path,
) -> None:
    async with open_admin(tmp_path) as admin:
        name = (await admin.call_ok("GET", "account"))["name"]
        none: dict[str, object] = {"invites": [], "nextCursor": None, "hasMore": False}
        assert await admin.call_ok("GET", "invites/mine", who="fay") == none
        mine = await admin.command(CreateInvite(BOSS, "Fay@ACME.example", "viewer"))
        await admin.command(CreateInvite(BOSS, "gus@acme.example", "viewer"))
        revoked = await admin.command(CreateInvite(BOSS, "fay@acme.example", "developer"))
        await admin.command(RevokeInvite(BOSS, revoked.invite_id))
        await admin.command(CreatePartner("Other", "fay@acme.example"), "other")
        found = (await admin.call_ok("GET", "invites/mine", who="fay"))["invites"]
        assert {one["inviteId"]: one["role"] for one in found}[mine.invite_id] == "viewer"
        assert sorted((one["partnerName"], one["role"]) for one in found) == sorted(
            [(name, "viewer"), ("Other", "admin")]
        )
        await admin.call_ok("POST", f"invites/{mine.invite_id}/accept", who="fay")
        left = (await admin.call_ok("GET", "invites/mine", who="fay"))["invites"]
        assert [one["partnerName"] for one in left] == ["Other"]


async def test_the_list_has_one_page_and_takes_no_cursor(tmp_path: Path) -> None:
    async with open_admin(tmp_path) as admin:
        reply = await admin.call("GET", "invites/mine?cursor=x", who="fay")
        check_refusal(reply, 400, "invalid_cursor")
