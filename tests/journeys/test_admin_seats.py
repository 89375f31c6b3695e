"""Looking up the seats that wait, and one seat."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from pgs.actors.messages.account.settings import AgreeTerms
from pgs.actors.messages.seats import CancelSeat, Seated, StakeSeat
from pgs.domain.environments import Environment
from pgs.domain.members import PLATFORM
from pgs.domain.seats import WAIT_S, Seat, SeatRequest
from tests.journeys.admin_client import AdminClient, open_admin
from tests.journeys.client import check_plain, check_refusal, ok
from tests.journeys.partners import BOTH, BRONZE
from tests.journeys.places import Place


@pytest.fixture
async def admin(place: Place) -> AsyncIterator[AdminClient]:
    """An account that has agreed to the terms, with its first admin."""
    async with open_admin(place) as opened:
        await opened.service.account("acme", AgreeTerms(PLATFORM, 1))
        yield opened


async def seat(
    admin: AdminClient,
    player: str,
    key: str,
    ref: str | None = None,
    environment: Environment = "live",
) -> Seat:
    seats = admin.service.core.directory.partner("acme").seats(environment)
    reply = await seats.ask(StakeSeat(SeatRequest(player, BOTH, BRONZE, 100, key, ref)))
    assert isinstance(reply, Seated), reply
    return reply.seat


async def listed(admin: AdminClient, query: str = "", environment: Environment = "live") -> Any:
    return await admin.call_ok("GET", f"seats?environment={environment}{query}")


async def test_waiting_seats_are_found_by_player_reference_seat_and_key(
    admin: AdminClient,
) -> None:
    ben = await seat(admin, "ben", "b1", "order-1")
    ann = await seat(admin, "ann", "a1", "order-1")
    again = await seat(admin, "ann", "a2", "order-2")
    gone = await seat(admin, "ann", "a3", "order-2")
    seats = admin.service.core.directory.partner("acme").seats("live")
    assert isinstance(await seats.ask(CancelSeat(gone.seat_id)), Seat)
    for query, expected in (
        ("", [ann, again, ben]),
        ("&playerId=ann", [ann, again]),
        ("&playerId=an", []),
        ("&partnerRef=order-1", [ann, ben]),
        ("&partnerRef=order-2", [again]),
        ("&partnerRef=order-2&playerId=ann", [again]),
        ("&partnerRef=order-2&playerId=ben", []),
        (f"&seatId={ben.seat_id}", [ben]),
        (f"&seatId={ben.seat_id}&playerId=ann", []),
        (f"&seatId={gone.seat_id}", []),
        ("&idempotencyKey=a2", [again]),
        ("&idempotencyKey=none", []),
    ):
        page = await listed(admin, query)
        found = [one["seatId"] for one in page["seats"]]
        assert found == [one.seat_id for one in expected], query
        assert (page["nextCursor"], page["hasMore"]) == (None, False)
    assert (await listed(admin, environment="test"))["seats"] == []
    assert (await listed(admin, f"&seatId={ben.seat_id}", "test"))["seats"] == []


async def test_the_page_of_a_seat_says_until_when_it_waits_and_what_is_held(
    admin: AdminClient,
) -> None:
    taken = await seat(admin, "ann", "a1", "order-1")
    await admin.add_member("vera", "viewer", "none")
    path = f"seats/{taken.seat_id}?environment=live"
    shown = ok(await admin.call("GET", path, who="vera"))
    assert taken.confirmed_at is not None
    assert shown["expiresAt"] == taken.confirmed_at + WAIT_S["live"]
    assert {name: shown[name] for name in ("status", "stakeStatus", "matchId", "heldBack")} == {
        "status": "waiting",
        "stakeStatus": "confirmed",
        "matchId": None,
        "heldBack": "player_absent",
    }
    assert (shown["stakeUsdCents"], shown["partnerRef"], shown["idempotencyKey"]) == (
        100,
        "order-1",
        "a1",
    )
    seats = admin.service.core.directory.partner("acme").seats("live")
    closed = await seats.ask(CancelSeat(taken.seat_id))
    assert isinstance(closed, Seat)
    after = await admin.call_ok("GET", path)
    assert (after["status"], after["matchId"]) == ("no_contest", closed.match_id)
    assert (await listed(admin))["seats"] == []


async def test_the_pairing_of_a_matched_seat_is_shown(admin: AdminClient) -> None:
    await seat(admin, "ann", "a1", environment="test")
    paired = await seat(admin, "ben", "b1", environment="test")
    shown = await admin.call_ok("GET", f"seats/{paired.seat_id}?environment=test")
    assert (shown["status"], shown["matchId"]) == ("matched", paired.match_id)
    assert shown["pairing"]["rule"] == "test.v1"


async def test_cursors_lead_through_the_waiting_seats(admin: AdminClient) -> None:
    expected = []
    for player in ("ann", "ben"):
        expected += [(await seat(admin, player, f"{player}{n}", "cart")).seat_id for n in (1, 2)]
    for query in ("", "&partnerRef=cart"):
        found: list[str] = []
        cursor = ""
        while not found or cursor:
            page = await listed(admin, f"&limit=1{query}{cursor}")
            found += [one["seatId"] for one in page["seats"]]
            cursor = f"&cursor={page['nextCursor']}" if page["hasMore"] else ""
        assert found == expected, query
    first = await listed(admin, "&limit=1&playerId=ann")
    second = await listed(admin, f"&limit=1&playerId=ann&cursor={first['nextCursor']}")
    found = [one["seatId"] for page in (first, second) for one in page["seats"]]
    assert (found, second["hasMore"]) == (expected[:2], False)
    cursor = f"&cursor={first['nextCursor']}"
    for environment, query in (("live", "&cursor=x"), ("test", cursor)):
        path = f"seats?environment={environment}{query}"
        check_refusal(await admin.call("GET", path), 400, "invalid_cursor")
    check_plain(await admin.call("GET", "seats?environment=live&limit=0"), "limit")


async def test_unknown_seats_seats_of_the_other_environment_and_calls_without_one_are_refused(
    admin: AdminClient,
) -> None:
    taken = await seat(admin, "ann", "a1")
    for path in (f"seats/{taken.seat_id}?environment=test", "seats/sea_no?environment=live"):
        check_refusal(await admin.call("GET", path), 404, "seat_not_found")
    for path in ("seats", f"seats/{taken.seat_id}"):
        reply = await admin.call("GET", path)
        check_refusal(reply, 400, "missing_parameter", parameter="environment")
        check_plain(await admin.call("GET", f"{path}?environment=both"), "environment")
