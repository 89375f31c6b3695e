"""Finding the invites to one's own address, as a member of an account or of none."""

from pgs.actors.messages.account.lifecycle import CreatePartner
from pgs.actors.messages.account.members import CreateInvite, RevokeInvite
from tests.journeys.admin_client import BOSS, open_admin, person
from tests.journeys.client import check_refusal
from tests.journeys.places import Place


async def test_a_stranger_finds_the_pending_invites_to_their_address_and_no_others(
    place: Place,
) -> None:
    async with open_admin(place) as admin:
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


async def test_the_invites_to_an_address_are_read_page_by_page(place: Place) -> None:
    async with open_admin(place) as admin:
        names = ["other", "third", "fourth"]
        for name in names:
            await admin.command(CreatePartner(name.title(), "fay@acme.example"), name)
        seen, path = [], "invites/mine?limit=2"
        page = await admin.call_ok("GET", path, who="fay")
        assert (len(page["invites"]), page["hasMore"]) == (2, True)
        seen += page["invites"]
        path += f"&cursor={page['nextCursor']}"
        page = await admin.call_ok("GET", path, who="fay")
        assert (len(page["invites"]), page["hasMore"], page["nextCursor"]) == (1, False, None)
        seen += page["invites"]
        assert sorted(one["partnerName"].lower() for one in seen) == sorted(names)
        check_refusal(await admin.call("GET", path, who="gus"), 400, "invalid_cursor")


async def test_the_list_refuses_a_limit_or_a_cursor_that_is_not_valid(place: Place) -> None:
    async with open_admin(place) as admin:
        for limit in ("0", "501", "x"):
            reply = await admin.call("GET", f"invites/mine?limit={limit}", who="fay")
            check_refusal(reply, 400, None)
        reply = await admin.call("GET", "invites/mine?cursor=x", who="fay")
        check_refusal(reply, 400, "invalid_cursor")


async def test_a_member_of_one_account_cannot_accept_the_invite_of_another(place: Place) -> None:
    """Of several nodes, each answers so: the accounts may belong to two others."""
    async with open_admin(place) as admin:
        await admin.add_member("val", "viewer")
        for name in ("other", "third", "fourth"):
            made = await admin.command(CreatePartner(name.title(), person("val").email), name)
            for _ in admin.service.cores:
                accept = f"invites/{made.invite_id}/accept"
                reply = await admin.call("POST", accept, who="val")
                check_refusal(reply, 409, "already_administers_another_partner")


async def test_somebody_is_a_member_at_once_wherever_they_call(place: Place) -> None:
    async with open_admin(place) as admin:
        for number in range(4):
            uid = await admin.add_member(f"dev{'abcd'[number]}", "developer", "none")
            for _ in admin.service.cores:
                await admin.call_ok("GET", "account", who=uid)
            await admin.call_ok("DELETE", f"members/{uid}")
            for _ in admin.service.cores:
                check_refusal(
                    await admin.call("GET", "account", who=uid), 403, "not_a_partner_admin"
                )
