"""`GET live`: the stream of an account's activity events, over a real socket."""

import json
from contextlib import AsyncExitStack
from itertools import pairwise
from typing import Any

import pytest
import trio

from pgs.actors.messages.account.lifecycle import CreatePartner
from pgs.actors.messages.account.settings import SetRate
from pgs.actors.shared.activity import BACKLOG_LIMIT, SUBSCRIBERS_LIMIT, ActivityEvent
from pgs.domain.members import PLATFORM
from pgs.http.admin import live
from tests.journeys.admin_client import (
    BOSS,
    AdminClient,
    open_admin,
    open_admin_with_webhook,
    person,
)
from tests.journeys.client import check_plain, check_refusal, ok
from tests.journeys.live_stream import Event, Stream, watching
from tests.journeys.partners import BOTH, BRONZE, seat_body
from tests.journeys.places import Place
from tests.journeys.service import until
from tests.patience import PATIENCE_S

MATCHES = "/partner/matches"


async def open_for_play(admin: AdminClient) -> str:
    await admin.call_ok("POST", f"games/{BOTH}/test")
    await admin.call_ok("POST", "rake-terms", {"version": 1})
    key: str = (await admin.call_ok("POST", "keys", {"environment": "test", "label": "shop"}))[
        "apiKey"
    ]
    return key


async def test_the_events_of_a_match_arrive_in_order_from_seat_to_nudge(place: Place) -> None:
    async with open_admin_with_webhook(place) as (admin, inbox):
        key = await open_for_play(admin)
        # At 80 calls a second the bucket could be full again before the stream shows its level.
        await admin.command(SetRate(PLATFORM, 300, 1))
        inbox.secret = (await admin.call_ok("POST", "webhooks/test", {"url": inbox.url}))[
            "signingSecret"
        ]
        async with watching(admin) as stream:
            call = admin.service.public.call
            await check_seat(stream, ok(await call("POST", MATCHES, key, seat_body("ann", "a"))))
            second = ok(await call("POST", MATCHES, key, seat_body("bob", "b")))
            await check_start(stream, second["matchId"])
            decide = f"/partner/test/matches/{second['matchId']}/decide"
            ok(await call("POST", decide, key, {"outcome": "ended", "winnerPlayerId": "ann"}))
            assert (await stream.until_kind("match"))["status"] == "ended"
            assert (await stream.until_kind("nudge"))["delivered"] is True
            refused = await call("POST", MATCHES, key, seat_body("cleo", "c", stakeUsdCents=1))
            check_refusal(refused, 400, "stake_below_floor", floorUsdCents=100)
            told = await stream.until_kind("refusal")
            assert (told["path"], told["reason"]) == (MATCHES, "stake_below_floor")
            budget = await stream.until_kind("budget")
            assert 0 <= budget["left"] <= budget["burst"] == 300
            await admin.call_ok("POST", "webhooks/test/test")
            # The nudge about the money comes in between.
            while not (await stream.until_kind("nudge"))["test"]:
                pass


async def check_seat(stream: Stream, seat: dict[str, Any]) -> None:
    """Check that the stream tells of ann's seat, which waits."""
    told = await stream.until_kind("seat")
    assert told.pop("at") > 0
    assert told == {
        "seatId": seat["seatId"],
        "matchId": None,
        "playerId": "ann",
        "gameId": BOTH,
        "tierId": "bronze",
        "status": "waiting",
        "stakeUsdCents": 100,
    }


async def check_start(stream: Stream, match_id: str) -> None:
    """Check that the stream tells of both seats, of the match, and of its nudge, in this order."""
    seats = [await stream.until_kind("seat") for _ in range(2)]
    assert {(seat["playerId"], seat["status"], seat["matchId"]) for seat in seats} == {
        ("ann", "matched", match_id),
        ("bob", "matched", match_id),
    }
    started = await stream.until_kind("match")
    assert (started["matchId"], started["status"], started["endReason"]) == (
        match_id,
        "started",
        None,
    )
    nudge = await stream.until_kind("nudge")
    told = [nudge[name] for name in ("matchId", "try", "delivered", "statusCode", "test")]
    assert told == [match_id, 1, True, 200, False]


async def test_events_of_the_other_environment_and_of_other_accounts_are_not_sent(
    admin: AdminClient,
) -> None:
    key = await open_for_play(admin)
    other = await admin.service.partner("other")
    async with watching(admin, "live") as seen_live, watching(admin, "test") as seen_test:
        for player in ("eve", "mallory"):
            ok(
                await admin.service.public.call(
                    "POST", "/partner/matches", other.live, seat_body(player, player)
                )
            )
            ok(
                await admin.service.public.call(
                    "POST", "/partner/matches", other.test, seat_body(player, player)
                )
            )
        ok(await admin.service.public.call("POST", "/partner/matches", key, seat_body("ann", "a")))
        assert (await seen_test.until_kind("seat"))["playerId"] == "ann"
        await admin.add_member("ada", "admin")
        await admin.call_ok("DELETE", f"members/{BOSS}", who="ada")
        assert {kind for kind, _ in await seen_live.rest()} <= {"budget"}


async def test_a_rate_limited_call_appears_in_the_stream(admin: AdminClient) -> None:
    key = await open_for_play(admin)
    await admin.command(SetRate(PLATFORM, 1, 1))
    async with watching(admin) as stream:
        statuses: set[int] = set()

        async def call() -> None:
            statuses.add((await admin.service.public.call("GET", "/partner/me", key)).status)

        while 429 not in statuses:  # a slow machine may make one call a second
            async with trio.open_nursery() as nursery:
                for _ in range(10):
                    nursery.start_soon(call)
        refusal = await stream.until_kind("refusal")
        assert (refusal["path"], refusal["reason"]) == ("/partner/me", "rate_limited")


async def test_every_call_with_a_key_is_reported_with_its_outcome(admin: AdminClient) -> None:
    key = await open_for_play(admin)
    async with watching(admin) as stream:
        accepted = await admin.service.public.call("GET", "/partner/me?x=1", key)
        refused = await admin.service.public.call("GET", "/partner/seats/sea_x", key)
        told = [await stream.until_kind("call") for _ in range(2)]
        for event in told:
            assert event.pop("durationMs") >= 0
            assert event.pop("at") > 0
        assert told == [
            {
                "method": "GET",
                "path": "/partner/me",
                "status": 200,
                "requestId": accepted.header("x-request-id"),
                "last4": key[-4:],
            },
            {
                "method": "GET",
                "path": "/partner/seats/sea_x",
                "status": 404,
                "reason": "seat_not_found",
                "requestId": refused.header("x-request-id"),
                "last4": key[-4:],
                "error": refused.json["error"],
            },
        ]
        plain = await admin.service.public.call("POST", "/partner/sessions", key, {})
        event = await stream.until_kind("call")
        assert (event["status"], event.get("reason")) == (400, None)
        assert event["error"] == plain.json["error"]


async def test_a_refused_stake_is_told_with_what_a_seat_costs_there(admin: AdminClient) -> None:
    key = await open_for_play(admin)
    await admin.call_ok("PUT", "prices/test", {"prices": {BRONZE: 150}})
    call = admin.service.public.call
    async with watching(admin) as stream:
        for stake in (99, 100, 100_000):
            body = seat_body("ann", f"k{stake}") | {"stakeUsdCents": stake}
            refused = await call("POST", "/partner/matches", key, body)
            assert (refused.status, "corrected" in refused.json) == (400, False)
            told = (await stream.until_kind("call"))["corrected"]
            assert told == {"gameId": BOTH, "tierId": BRONZE, "stakeUsdCents": 150}
            ok(await call("POST", "/partner/matches", key, body | told))
            assert "corrected" not in await stream.until_kind("call")


async def test_a_viewer_may_read_the_stream_and_it_holds_no_secret(admin: AdminClient) -> None:
    await admin.add_member("val", "viewer", "none")
    async with watching(admin, who="val") as stream:
        made = await admin.call_ok("POST", "keys", {"environment": "test", "label": "shop"})
        await admin.service.public.call("GET", "/partner/results?cursor=x", made["apiKey"])
        assert made["apiKey"] not in json.dumps(await stream.until_kind("refusal"))


async def test_the_environment_parameter_is_checked(admin: AdminClient) -> None:
    check_refusal(
        await admin.call("GET", "live"), 400, "missing_parameter", parameter="environment"
    )
    for wrong in ("", "prod", "TEST"):
        check_plain(await admin.call("GET", f"live?environment={wrong}"), "environment")
    check_plain(await admin.call("GET", "live?environment=test&environment=test"), "environment")


async def test_a_seventeenth_reader_is_told_to_try_later(admin: AdminClient) -> None:
    async with AsyncExitStack() as stack:
        for number in range(SUBSCRIBERS_LIMIT):
            await stack.enter_async_context(watching(admin, "test" if number % 2 else "live"))
        check_refusal(await admin.call("GET", "live?environment=test"), 429, "rate_limited")
    # The place of a subscriber who leaves is free once the service has noticed.
    activity = admin.service.core.parts.activity
    await until(
        lambda: (
            not activity.has_subscribers("acme", "test")
            and not activity.has_subscribers("acme", "live")
        )
    )
    async with watching(admin):
        pass


async def test_a_reader_that_stops_reading_delays_nobody_and_is_told_how_much_it_lost(
    admin: AdminClient,
) -> None:
    activity = admin.service.core.parts.activity
    port = int(admin.service.public.next_url.rpartition(":")[2])
    sock = trio.socket.socket()
    sock.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, 4096)
    await sock.connect(("127.0.0.1", port))
    token = admin.issuer.mint_token(person(BOSS))
    head = (
        "GET /partner/admin/live?environment=test HTTP/1.1\r\n"
        f"Host: x\r\nAuthorization: Bearer {token}\r\n\r\n"
    )
    with sock:
        await sock.send(head.encode())
        await until(lambda: activity.has_subscribers("acme", "test"))
        filler, sent = "x" * 1000, 0
        # Enough to fill every buffer on the way, in small pieces. A forwarded stream has more.
        for _ in range(60 if len(admin.service.cores) == 1 else 240):
            for _ in range(BACKLOG_LIMIT // 2):
                activity.tell("acme", "test", ActivityEvent("seat", sent, {"playerId": filler}))
                sent += 1
            await trio.sleep(0.001)
        # The rest comes in large pieces, and each is searched once: megabytes are on the way.
        sock.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, 1 << 20)
        collected, lost_at = bytearray(), -1
        with trio.fail_after(PATIENCE_S):
            while lost_at < 0 or collected.find(b'"playerId"', lost_at) < 0:
                searched = max(0, len(collected) - len(b"event: lost"))
                collected += await sock.recv(1 << 20)
                if lost_at < 0:
                    lost_at = collected.find(b"event: lost", searched)
        received = bytes(collected)
        told = received.partition(b"event: lost\n")[2]
        lost = json.loads(told.partition(b"data: ")[2].partition(b"\n")[0])["events"]
        assert 0 < lost < sent
        # The received events are in order, and `lost` counts those missing in the first gap.
        times = [
            -1,  # before the first one, which may be missing, too
            *(
                int(piece.partition(b",")[0])
                for piece in received.split(b'{"at":')[1:]
                if b"playerId" in piece
            ),
        ]
        assert times == sorted(times)
        gaps = [after - before for before, after in pairwise(times) if after - before > 1]
        assert gaps[0] == lost + 1


@pytest.mark.parametrize("how", ["removed", "left for another account"])
async def test_the_stream_ends_when_its_reader_is_no_longer_a_member(
    admin: AdminClient, how: str
) -> None:
    await admin.add_member("val", "viewer", "none")
    async with watching(admin, who="val") as stream:
        began = trio.current_time()
        await admin.call_ok("DELETE", "members/val")
        if how != "removed":
            invited = await admin.command(CreatePartner("Other", person("val").email), "other")
            await admin.call_ok("POST", f"invites/{invited.invite_id}/accept", who="val")
        assert {kind for kind, _ in await stream.rest()} <= {"budget"}
        assert trio.current_time() - began < live.LIFE_S / 2
    check_refusal(
        await admin.call(
            "GET", "live?environment=test", who="val" if how == "removed" else "nobody"
        ),
        403,
        "not_a_partner_admin",
    )


async def test_the_stream_ends_when_its_token_expires(admin: AdminClient) -> None:
    async with watching(admin) as other, watching(admin, lifetime_s=2) as stream:
        began = trio.current_time()
        assert {kind for kind, _ in await stream.rest()} <= {"budget"}
        assert trio.current_time() - began < live.LIFE_S / 2
        admin.service.core.parts.activity.tell(
            "acme", "test", ActivityEvent("seat", 1, {"seatId": "sea_1"})
        )
        assert (await other.until_kind("seat"))["seatId"] == "sea_1", (
            "another token's stream ended with it"
        )


async def test_the_stream_ends_when_the_service_stops(place: Place) -> None:
    ended: list[list[Event]] = []
    async with trio.open_nursery() as nursery:
        async with open_admin(place) as admin:

            async def watch(task_status: trio.TaskStatus[None]) -> None:
                async with watching(admin) as stream:
                    task_status.started()
                    ended.append(await stream.rest())

            await nursery.start(watch)
            began = trio.current_time()
        assert trio.current_time() - began < live.LIFE_S / 2
    assert len(ended) == 1, "the stream broke off instead of ending"


async def test_a_stream_ends_after_its_lifetime_so_that_its_reader_is_checked_again(
    admin: AdminClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "LIFE_S", 0.2)
    monkeypatch.setattr(live, "LOOK_S", 0.1)
    async with watching(admin) as stream:
        assert {kind for kind, _ in await stream.rest()} <= {"budget"}
