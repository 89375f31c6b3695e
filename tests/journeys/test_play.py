"""Playing a match over real sockets, from the session tokens to the row in the feed."""

from contextlib import AsyncExitStack
from random import Random
from typing import Any

import trio

from tests.journeys.client import ok
from tests.journeys.partners import SILVER, SILVER_CENTS, Partner, seat_body
from tests.journeys.places import Place
from tests.journeys.play import Bot, match, match_sync, mint, mint_sync, socket_of
from tests.journeys.service import SharedService, in_process


async def play_on(bot: Bot, moves: Random) -> dict[str, Any]:
    """Play random legal moves until the end; return the `ended` message.

    The bot uses only what the service sends to it.
    """
    seen = await bot.hear_until("snapshot")
    you = seen["you"]
    while True:
        if seen["type"] in ("snapshot", "moved") and seen["legalMoves"] and seen["turn"] == you:
            await bot.send(
                "move",
                matchId=seen["matchId"],
                ply=seen["ply"],
                move=moves.choice(seen["legalMoves"]),
            )
        seen = await bot.hear()
        if seen["type"] == "ended":
            return seen


async def test_two_bots_play_to_the_end_and_the_feed_says_who_won(place: Place) -> None:
    async with in_process(place) as service, AsyncExitStack() as stack:
        partner = await service.partner()
        tokens = [await mint(service.public, partner.test, player) for player in ("ann", "bob")]
        bots = [
            await stack.enter_async_context(socket_of(service.public.next_url, token))
            for token in tokens
        ]
        for bot in bots:
            assert await bot.ask("join") == {"type": "no_seat"}
        match_id = await match(service.public, partner.test, "ann", "bob")
        ends: dict[str, dict[str, Any]] = {}

        async def play(player: str, bot: Bot) -> None:
            ends[player] = await play_on(bot, Random(player))

        async with trio.open_nursery() as nursery:
            for player, bot in zip(("ann", "bob"), bots, strict=True):
                nursery.start_soon(play, player, bot)

        feed = ok(await service.public.call("GET", "/partner/results?waitSeconds=1", partner.test))[
            "results"
        ]
        assert {
            row["playerId"]: (row["matchId"], row["result"], row["endReason"]) for row in feed
        } == {player: (match_id, end["result"], "completed") for player, end in ends.items()}
        assert sorted(row["result"] for row in feed) in (["lost", "won"], ["drawn", "drawn"])


async def test_a_player_who_was_sent_a_snapshot_may_move_without_joining(place: Place) -> None:
    async with in_process(place) as service, AsyncExitStack() as stack:
        partner = await service.partner()
        tokens = [await mint(service.public, partner.test, player) for player in ("ann", "bob")]
        ann, bob = [
            await stack.enter_async_context(socket_of(service.public.next_url, token))
            for token in tokens
        ]
        assert await ann.ask("join") == await bob.ask("join") == {"type": "no_seat"}
        match_id = await match(service.public, partner.test, "ann", "bob")
        seen = await ann.hear_until("snapshot")
        await ann.send("move", matchId=match_id, ply=0, move=seen["legalMoves"][0])
        kinds = [(await ann.hear())["type"]]
        while kinds[-1] != "moved":
            kinds.append((await ann.hear())["type"])
        assert "snapshot" not in kinds


async def test_a_session_names_its_player_with_their_matches_and_seats(
    shared: SharedService, partner: Partner
) -> None:
    token = mint_sync(shared.client, partner.test, "ann", displayName="Ann of Cleves")
    match_id = match_sync(shared.client, partner.test, "ann", "bob")
    waiting = ok(
        shared.client.call(
            "POST",
            "/partner/matches",
            partner.test,
            seat_body("ann", "second", tierId=SILVER, stakeUsdCents=SILVER_CENTS),
        )
    )
    session = ok(shared.client.call("GET", "/game/session", token))
    assert session["playerUid"] == f"ptr:test:{partner.partner_id}:ann"
    assert (
        session["playerId"],
        session["displayName"],
        session["environment"],
        session["gameId"],
    ) == (
        "ann",
        "Ann of Cleves",
        "test",
        "tic-tac-toe",
    )
    assert session["matches"] == [{"matchId": match_id, "status": "started"}]
    assert [seat["status"] for seat in session["seats"]] == ["matched", "waiting"]
    assert session["seats"][1]["seatId"] == waiting["seatId"]
    assert session["theme"]["environment"] == "test"


async def test_a_waiting_socket_is_told_the_players_oldest_seat(
    shared: SharedService, partner: Partner
) -> None:
    first, _ = (
        ok(shared.client.call("POST", "/partner/matches", partner.test, seat_body("ann", key)))
        for key in ("one", "two")
    )
    async with socket_of(
        shared.client.next_url, mint_sync(shared.client, partner.test, "ann")
    ) as bot:
        assert await bot.ask("join") == {
            "type": "waiting",
            **{name: first[name] for name in ("seatId", "gameId", "seatedAt", "expiresAt")},
            "stakeUsdCents": 100,
            "prizeUsdCents": 180,
        }
        match_sync(shared.client, partner.test, "bob")
        snapshot = await bot.hear()
        assert [snapshot[name] for name in ("type", "stakeUsdCents", "prizeUsdCents")] == [
            "snapshot",
            100,
            180,
        ]
