"""What a change affects, and how fast: members, keys, tokens, sockets, seats and matches."""

from typing import Any

import msgspec
import pytest
import trio

from pgs.actors.messages.account.settings import ChangeLicence
from pgs.actors.shared.snapshots import REFRESH_S
from pgs.domain.accounts import ApiKey
from pgs.domain.environments import Environment
from pgs.domain.errors import refuse
from pgs.domain.keys import ENTROPY_BYTES, hash_key, last4, make_key
from pgs.domain.members import PLATFORM, Member
from pgs.storage import accounts as rows
from pgs.storage import members as member_rows
from pgs.storage.accounts import read_account
from pgs.storage.seats import find_seat
from pgs.storage.transactions import Stmt, Tx
from tests.journeys.admin_client import AdminClient
from tests.journeys.client import Reply, check_refusal, ok
from tests.journeys.partners import BOTH, seat_body
from tests.journeys.play import Refused, match, mint, socket_of
from tests.journeys.service import until


async def open_for_play(admin: AdminClient) -> str:
    """Let the admin make everything that a first launch needs; return a test key."""
    await admin.call_ok("POST", f"games/{BOTH}/test")
    await admin.call_ok("POST", "rake-terms", {"version": 1})
    key: str = (await admin.call_ok("POST", "keys", {"environment": "test", "label": "shop"}))[
        "apiKey"
    ]
    return key


async def keyed(
    admin: AdminClient, key: str, method: str = "GET", path: str = "/partner/me", **how: Any
) -> Reply:
    return await admin.service.public.call(method, path, key, **how)


# Rows that are written without the actors


async def write_without_the_actors(admin: AdminClient, *stmts: Stmt) -> None:
    """Commit rows without their actor, as another process would."""
    await admin.service.core.parts.database.writer.submit(Tx("acme", stmts))


async def refresh(admin: AdminClient) -> None:
    """Reload the registry, as the service does every minute."""
    assert (await admin.service.internal.send("POST", "/internal/registry/refresh"))[0] == 200


def test_the_registry_is_reloaded_within_the_promised_time() -> None:
    assert REFRESH_S <= 60


async def test_a_member_written_without_the_actor_is_let_in_once_the_registry_is_reloaded(
    admin: AdminClient,
) -> None:
    check_refusal(await admin.call("GET", "account", who="late"), 403, "not_a_partner_admin")
    late = Member("late", "late@acme.example", "viewer", admin.service.core.parts.clock.now())
    await write_without_the_actors(admin, *member_rows.insert_member("acme", late))
    check_refusal(await admin.call("GET", "account", who="late"), 403, "not_a_partner_admin")
    await refresh(admin)
    assert (await admin.call_ok("GET", "account", who="late"))["role"] == "viewer"
    # The actor knows the member too.
    await admin.call_ok("PATCH", "members/late", {"role": "developer"})
    await write_without_the_actors(admin, *member_rows.delete_member("acme", "late"))
    await refresh(admin)
    check_refusal(await admin.call("GET", "account", who="late"), 403, "not_a_partner_admin")
    check_refusal(
        await admin.call("PATCH", "members/late", {"role": "viewer"}), 404, "member_not_found"
    )


async def test_a_role_written_without_the_actor_counts_once_the_registry_is_reloaded(
    admin: AdminClient,
) -> None:
    await admin.add_member("dev", "developer")
    await write_without_the_actors(admin, member_rows.set_role("acme", "dev", "viewer"))
    await refresh(admin)
    check_refusal(
        await admin.call("POST", "keys", {"environment": "test", "label": "x"}, who="dev"),
        403,
        "role_forbidden",
    )


async def test_a_key_written_without_the_actor_takes_effect_once_the_registry_is_reloaded(
    admin: AdminClient,
) -> None:
    parts = admin.service.core.parts
    text = make_key("test", "acme", parts.rng.bytes(ENTROPY_BYTES))
    key = ApiKey("key_foreign", "test", "foreign", hash_key(text), last4(text), parts.clock.now())
    await write_without_the_actors(admin, *rows.insert_key("acme", key))
    check_refusal(await keyed(admin, text), 401, "invalid_key")
    await refresh(admin)
    assert ok(await keyed(admin, text))["partnerId"] == "acme"
    (entry,) = (await admin.call_ok("GET", "keys"))["keys"]
    assert entry["keyId"] == "key_foreign"
    assert "createdBy" not in entry  # no member has made it
    await write_without_the_actors(
        admin, rows.schedule_revocation("acme", "key_foreign", parts.clock.now())
    )
    await refresh(admin)
    check_refusal(await keyed(admin, text), 401, "invalid_key")


async def test_an_account_switched_off_without_the_actor_is_off_once_the_registry_is_reloaded(
    admin: AdminClient,
) -> None:
    key = await open_for_play(admin)
    token = await mint(admin.service.public, key, "ann")
    seat = ok(await keyed(admin, key, "POST", "/partner/matches", body=seat_body("ann", "a")))
    was = await read_account(admin.service.core.parts.database.reader, "acme")
    assert was is not None
    off = msgspec.structs.replace(
        was, active=False, switched_off_by="platform", revision=was.revision + 1
    )
    await write_without_the_actors(admin, rows.update_partner(was, off))
    await refresh(admin)
    check_refusal(await keyed(admin, key), 403, "partner_inactive")
    check_refusal(
        await admin.service.public.call("GET", "/game/session", token), 403, "partner_inactive"
    )
    account = await admin.call_ok("GET", "account")
    assert account["active"] is False
    check_refusal(await admin.call("POST", "account/reactivate"), 403, "role_forbidden")

    async def is_closed() -> bool:
        return await _status(admin, seat["seatId"]) == "no_contest"

    await until(is_closed)


async def _status(admin: AdminClient, seat_id: str) -> str:
    seat = await find_seat(admin.service.core.parts.database.reader, "acme", seat_id)
    assert seat is not None
    return seat.status


# Stops


async def play(admin: AdminClient, key: str) -> tuple[str, str]:
    """Seat three players in test, two in a match. Return the match and the waiting seat."""
    match_id = await match(admin.service.public, key, "ann", "bob")
    waiting = ok(await keyed(admin, key, "POST", "/partner/matches", body=seat_body("cleo", "c")))
    assert waiting["status"] == "waiting"
    return match_id, waiting["seatId"]


async def feed(admin: AdminClient, key: str) -> dict[str, dict[str, object]]:
    """Read the feed until it has the refunds; return the newest row of each player."""
    rows: dict[str, dict[str, object]] = {}
    cursor = ""
    while len(rows) < 3 or not all("refundUsdCents" in row for row in rows.values()):
        page = ok(await keyed(admin, key, path="/partner/results?waitSeconds=20" + cursor))
        rows |= {row["playerId"]: row for row in page["results"]}
        cursor = f"&cursor={page['nextCursor']}"
    return rows


def check_stopped(found: dict[str, dict[str, object]], reason: str) -> None:
    assert found.keys() == {"ann", "bob", "cleo"}
    for row in found.values():
        assert (row["outcome"], row["endReason"]) == ("no_contest", reason)
        assert (
            row["stakeUsdCents"],
            row["refundUsdCents"],
            row["payoutUsdCents"],
            row["rakeUsdCents"],
        ) == (100, 100, 0, 0)


async def test_an_emergency_stop_ends_everything_of_its_environment_before_it_answers(
    admin: AdminClient,
) -> None:
    key, public = await open_for_play(admin), admin.service.public
    token = await mint(public, key, "ann")
    match_id, waiting = await play(admin, key)
    async with socket_of(public.next_url, token) as bot:
        stopped = await admin.call_ok("POST", "emergency-stop", {"environment": "test"})
        assert await bot.closed() == 4403
    assert (stopped["environment"], stopped["matchesEnded"]) == ("test", 2)
    assert stopped["sessionsEndedAt"] > 0
    # The very next reads show that everything has ended.
    assert ok(await keyed(admin, key, path=f"/partner/seats/{waiting}"))["status"] == "no_contest"
    ended = ok(await keyed(admin, key, path=f"/partner/matches/{match_id}"))
    assert (ended["status"], ended["endReason"]) == ("no_contest", "emergency_stop")
    check_refusal(await public.call("GET", "/game/session", token), 401, None)
    check_refusal(await public.call("POST", f"/game/matches/{match_id}/join", token), 401, None)
    with pytest.raises(Refused) as refused:
        async with socket_of(public.next_url, token):
            pass
    assert refused.value.status == 401
    check_stopped(await feed(admin, key), "emergency_stop")
    # Keys, and tokens minted from now on, still work.
    ok(await public.call("GET", "/game/session", await mint(public, key, "ann")))
    assert (
        ok(await keyed(admin, key, "POST", "/partner/matches", body=seat_body("ann", "again")))[
            "status"
        ]
        == "waiting"
    )
    assert await admin.call_ok("POST", "emergency-stop", {"environment": "live"}) | {
        "sessionsEndedAt": 0
    } == {
        "environment": "live",
        "sessionsEndedAt": 0,
        "matchesEnded": 0,
    }
    ok(await keyed(admin, key, path="/partner/me"))
    assert (
        ok(await keyed(admin, key, "POST", "/partner/matches", body=seat_body("ann", "again")))[
            "status"
        ]
        == "waiting"
    )


@pytest.mark.parametrize("environment", ["test", "live"])
async def test_an_emergency_stop_affects_one_environment_only(
    admin: AdminClient, environment: Environment
) -> None:
    public, keys = admin.service.public, {"test": await open_for_play(admin)}
    await admin.command(ChangeLicence(PLATFORM, BOTH, "request_live"))
    await admin.command(ChangeLicence(PLATFORM, BOTH, "grant"))
    keys["live"] = (await admin.call_ok("POST", "keys", {"environment": "live", "label": "shop"}))[
        "apiKey"
    ]
    tokens = {env: await mint(public, key, "ann") for env, key in keys.items()}
    others = await mint(public, (await admin.service.partner("other")).keys[environment], "ann")
    await admin.call_ok("POST", "emergency-stop", {"environment": environment})
    for env, token in tokens.items():
        assert (await public.call("GET", "/game/session", token)).status == (
            401 if env == environment else 200
        )
    ok(await public.call("GET", "/game/session", others))


async def test_a_deactivation_ends_all_play_before_it_answers(admin: AdminClient) -> None:
    key, public = await open_for_play(admin), admin.service.public
    token = await mint(public, key, "ann")
    match_id, waiting = await play(admin, key)
    async with socket_of(public.next_url, token) as bot:
        assert (await admin.call_ok("POST", "account/deactivate"))["active"] is False
        assert await bot.closed() == 4403
    check_refusal(await keyed(admin, key), 403, "partner_inactive")
    check_refusal(await keyed(admin, key, path="/partner/results"), 403, "partner_inactive")
    check_refusal(await public.call("GET", "/game/session", token), 403, "partner_inactive")
    with pytest.raises(Refused) as refused:
        async with socket_of(public.next_url, token):
            pass
    assert (refused.value.status, refused.value.body["reason"]) == (403, "partner_inactive")
    assert await _status(admin, waiting) == "no_contest"
    # Once switched on again, the stakes are refunded and the earlier token works.
    await admin.call_ok("POST", "account/reactivate")
    assert (
        ok(await keyed(admin, key, path=f"/partner/matches/{match_id}"))["endReason"]
        == "account_inactive"
    )
    check_stopped(await feed(admin, key), "account_inactive")
    ok(await public.call("GET", "/game/session", token))


async def test_a_held_feed_call_ends_when_the_account_is_switched_off(admin: AdminClient) -> None:
    key = await open_for_play(admin)
    replies: list[Reply] = []
    async with trio.open_nursery() as nursery:

        async def hold() -> None:
            cursor = ok(await keyed(admin, key, path="/partner/results"))["nextCursor"]
            replies.append(
                await keyed(admin, key, path=f"/partner/results?waitSeconds=25&cursor={cursor}")
            )

        nursery.start_soon(hold)
        await trio.sleep(0.2)
        began = trio.current_time()
        await admin.call_ok("POST", "account/deactivate")
    assert trio.current_time() - began < 20
    assert replies[0].status in (200, 403)
    assert replies[0].status == 200 or replies[0].reason == "partner_inactive"


async def test_simultaneous_stops_are_handled_one_after_the_other(admin: AdminClient) -> None:
    key = await open_for_play(admin)
    await play(admin, key)
    replies: list[Reply] = []
    async with trio.open_nursery() as nursery:

        async def stop(method: str, path: str, body: object) -> None:
            replies.append(await admin.call(method, path, body))

        for _ in range(3):
            nursery.start_soon(stop, "POST", "emergency-stop", {"environment": "test"})
        nursery.start_soon(stop, "POST", "account/deactivate", {})
        nursery.start_soon(stop, "POST", "account/deactivate", {})
    reasons = sorted(reply.reason or "" for reply in replies if reply.status != 200)
    assert reasons == [refuse("account_inactive").reason]
    assert (
        sum(
            reply.json["matchesEnded"]
            for reply in replies
            if reply.status == 200 and "matchesEnded" in reply.json
        )
        <= 2
    )
    await admin.call_ok("POST", "account/reactivate")
    found = await feed(admin, key)
    assert {row["outcome"] for row in found.values()} == {"no_contest"}
    assert [row["refundUsdCents"] for row in found.values()] == [100] * 3
