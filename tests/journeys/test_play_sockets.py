"""What the game socket refuses, whom it lets join, and what ends it."""

from collections.abc import Iterator

import pytest
import trio

from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.domain.members import PLATFORM
from pgs.storage.moves import moves_of_match
from tests.journeys.client import check_refusal, ok
from tests.journeys.partners import Partner
from tests.journeys.places import NewPlace, Place
from tests.journeys.play import Bot, match, match_sync, mint, mint_sync, socket_of
from tests.journeys.service import SharedService, in_process, until


@pytest.fixture(scope="module", params=["on", "off"], ids=["lane", "hypercorn"])
def shared(request: pytest.FixtureRequest, new_place: NewPlace) -> Iterator[SharedService]:
    """A service whose sockets go through the lane, or through hypercorn."""
    service = SharedService(new_place("sockets"), lane=request.param)
    service.start()
    yield service
    service.stop()


async def test_the_refusals_of_a_move_come_in_order(
    shared: SharedService, partner: Partner
) -> None:
    match_id = match_sync(shared.client, partner.test, "ann", "bob")
    tokens = [mint_sync(shared.client, partner.test, player) for player in ("ann", "bob")]
    async with (
        socket_of(shared.client.next_url, tokens[0]) as ann,
        socket_of(shared.client.next_url, tokens[1]) as bob,
    ):

        def refused(reason: str) -> dict[str, str]:
            return {"type": "error", "reason": reason, "ref": match_id}

        assert (await ann.ask("join"))["ply"] == 0
        assert (await bob.ask("join", matchId=match_id))["ply"] == 0
        assert (await ann.hear())["type"] == "presence"
        assert await bob.ask("move", matchId=match_id, ply=1, move="zz") == refused("stale_ply")
        assert await bob.ask("move", matchId=match_id, ply=0, move="zz") == refused("not_your_turn")
        assert await ann.ask("move", matchId=match_id, ply=0, move="zz") == refused("illegal_move")
        assert (await ann.ask("move", matchId=match_id, ply=0, move="b2"))["type"] == "moved"
        assert (await bob.hear())["move"] == "b2"
        await ann.send(
            "move", matchId=match_id, ply=0, move="b2"
        )  # sent again, as after a lost answer
        assert await ann.ask("move", matchId=match_id, ply=0, move="a1") == refused("stale_ply")
        await bob.send("resign", matchId=match_id)
        assert (await bob.hear_until("ended"))["result"] == "lost"
        assert (await ann.hear_until("ended"))["endReason"] == "resigned"
        assert await ann.ask("move", matchId=match_id, ply=0, move="b2") == refused("match_over")
        assert await bob.ask("resign", matchId=match_id) == refused("match_over")


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "1",
        "null",
        '"join"',
        "{}",
        '{"type":"sing"}',
        '{"type":7}',
        '{"type":"join","matchId":7}',
        '{"type":"move","matchId":"m","ply":0}',
        '{"type":"move","matchId":"m","ply":"0","move":"a1"}',
        '{"type":"move","matchId":"m","ply":true,"move":"a1"}',
        '{"type":"resign"}',
        '{"type":"ping"}',
        "[" * 5000 + "]" * 5000,
    ],
)
async def test_json_that_is_no_message_is_refused_and_the_socket_stays_open(
    text: str, shared: SharedService, known: Partner
) -> None:
    async with socket_of(
        shared.client.next_url, mint_sync(shared.client, known.test, "ann")
    ) as bot:
        await bot.socket.send_message(text)
        assert await bot.hear() == {"type": "error", "reason": "bad_message"}
        assert await bot.ask("ping", id="still here") == {"type": "pong", "id": "still here"}


@pytest.mark.parametrize(
    "abuse",
    ["{", "", '{"type":"sing"} {', b"{}", "x" * (16 * 1024 + 1)],
    ids=["cut", "empty", "tail", "binary", "long"],
)
async def test_text_that_is_no_json_closes_the_socket(
    abuse: str | bytes, shared: SharedService, known: Partner
) -> None:
    async with socket_of(
        shared.client.next_url, mint_sync(shared.client, known.test, "ann")
    ) as bot:
        await bot.socket.send_message(abuse)
        assert await bot.closed() == 4400


async def test_too_many_messages_close_the_socket(shared: SharedService, known: Partner) -> None:
    async with socket_of(
        shared.client.next_url, mint_sync(shared.client, known.test, "ann")
    ) as bot:
        for number in range(21):
            await bot.send("ping", id=number)
        assert await bot.closed() == 4400


async def test_a_player_can_join_only_own_matches_in_the_same_environment(
    shared: SharedService, partner: Partner, known: Partner
) -> None:
    client = shared.client
    own = match_sync(client, partner.test, "ann", "bob")
    test, live, eve = (
        mint_sync(client, key, player)
        for key, player in ((partner.test, "ann"), (partner.live, "ann"), (partner.test, "eve"))
    )
    elsewhere = mint_sync(client, known.test, "ann")
    join = f"/game/matches/{own}/join"
    assert ok(client.call("POST", join, test))["you"] == 0
    check_refusal(client.call("POST", join, live), 403, "cross_environment_join")
    check_refusal(client.call("POST", join, eve), 404, "match_not_found")
    check_refusal(client.call("POST", join, elsewhere), 404, "match_not_found")
    check_refusal(
        client.call("POST", "/game/matches/mat_nothing/join", test), 404, "match_not_found"
    )
    async with socket_of(client.next_url, live) as bot:
        for kind, fields in (("join", {}), ("resign", {}), ("move", {"ply": 0, "move": "a1"})):
            assert await bot.ask(kind, matchId=own, **fields) == {
                "type": "error",
                "reason": "cross_environment_join",
                "ref": own,
            }
    async with socket_of(client.next_url, eve) as bot:
        assert (await bot.ask("move", matchId=own, ply=0, move="a1"))["reason"] == "match_not_found"
        assert await bot.ask("join", matchId="mat_nothing") == {
            "type": "error",
            "reason": "match_not_found",
            "ref": "mat_nothing",
        }


async def test_a_player_is_connected_once_a_socket_has_joined_and_not_before(
    shared: SharedService, partner: Partner
) -> None:
    match_id = match_sync(shared.client, partner.test, "ann", "bob")
    tokens = [
        mint_sync(shared.client, partner.test, player, displayName=player.title())
        for player in ("ann", "bob")
    ]
    async with socket_of(shared.client.next_url, tokens[0]) as ann:
        async with socket_of(shared.client.next_url, tokens[1]) as bob:
            assert (await bob.ask("ping", id=1))["type"] == "pong", "the socket is open"
            seen = await ann.ask("join")
            assert seen["opponent"] == {"playerId": "bob", "connected": False}
            assert "deadlineAtMs" not in seen
            await bob.ask("join", matchId=match_id)
            seen = await ann.hear()
            assert seen["opponent"] == {"playerId": "bob", "displayName": "Bob", "connected": True}
            assert "deadlineAtMs" in seen
        gone = await ann.hear()
        assert (gone["type"], gone["opponent"]["connected"]) == ("presence", False)


async def test_a_player_who_moves_without_having_joined_is_joined_first(
    shared: SharedService, partner: Partner
) -> None:
    match_id = match_sync(shared.client, partner.test, "ann", "bob")
    tokens = [mint_sync(shared.client, partner.test, player) for player in ("ann", "bob")]
    async with (
        socket_of(shared.client.next_url, tokens[0]) as ann,
        socket_of(shared.client.next_url, tokens[1]) as bob,
    ):
        snapshot = await ann.ask("move", matchId=match_id, ply=0, move="b2")
        assert (snapshot["type"], snapshot["matchId"], snapshot["ply"]) == ("snapshot", match_id, 0)
        assert (await ann.hear_until("moved"))["move"] == "b2"
        assert (await bob.ask("resign", matchId=match_id))["type"] == "snapshot"
        assert (await bob.hear_until("ended"))["result"] == "lost"
        assert (await ann.hear_until("ended"))["result"] == "won"
    async with socket_of(
        shared.client.next_url, tokens[1]
    ) as late:  # a match that is over cannot be joined
        assert (await late.ask("resign", matchId=match_id))["reason"] == "match_over"


async def test_a_newer_socket_replaces_the_older_one(
    shared: SharedService, partner: Partner
) -> None:
    match_id = match_sync(shared.client, partner.test, "ann", "bob")
    token = mint_sync(shared.client, partner.test, "ann")
    async with socket_of(shared.client.next_url, token) as older:
        assert (await older.ask("join"))["matchId"] == match_id
        async with socket_of(shared.client.next_url, token) as newer:
            assert await older.closed() == 4409
            assert (await newer.ask("join"))["ply"] == 0
            assert (await newer.ask("move", matchId=match_id, ply=0, move="a1"))["type"] == "moved"


async def test_a_deactivated_account_stops_play_at_once(place: Place) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        token = await mint(service.public, partner.test, "ann")
        async with socket_of(service.public.next_url, token) as bot:
            await service.account(partner.partner_id, SwitchAccount(PLATFORM, active=False))
            assert await bot.closed() == 4403
        check_refusal(
            await service.public.call("GET", "/game/session", token), 403, "partner_inactive"
        )


async def test_a_restart_loses_only_the_connection(place: Place) -> None:
    told: list[int] = []

    async def stay(base_url: str, token: str, *, task_status: trio.TaskStatus[Bot]) -> None:
        async with socket_of(base_url, token) as bot:
            await bot.ask("join")
            task_status.started(bot)
            told.append(await bot.closed())

    async with trio.open_nursery() as nursery, in_process(place) as service:
        partner = await service.partner()
        tokens = [await mint(service.public, partner.test, player) for player in ("ann", "bob")]
        match_id = await match(service.public, partner.test, "ann", "bob")
        ann, _ = [await nursery.start(stay, service.public.next_url, token) for token in tokens]
        await ann.send("move", matchId=match_id, ply=0, move="b2")

        async def has_moved() -> bool:
            reader = service.core.parts.database.reader
            return len(await moves_of_match(reader, partner.partner_id, match_id)) == 1

        await until(has_moved)
    assert told == [1001, 1001]
    async with (
        in_process(place) as service,
        socket_of(service.public.next_url, tokens[1]) as bob,
    ):
        snapshot = await bob.ask("join")
        assert (snapshot["ply"], snapshot["turn"], snapshot["state"]["board"][1]) == (
            1,
            1,
            [None, 0, None],
        )
        assert (await bob.ask("move", matchId=match_id, ply=1, move="a1"))["ply"] == 2
