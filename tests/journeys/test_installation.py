"""Several nodes on one PostgreSQL share the partners out, and go on for each other."""

from pathlib import Path
from typing import Any

import httpcore
import msgspec
import psycopg
import pytest
import trio

from pgs.app import open_core
from pgs.config import Config
from pgs.domain import leases
from pgs.domain.leases import HOLD_S
from pgs.domain.shards import SHARDS
from pgs.storage.postgres import connecting, node_looks, shard_keeper
from pgs.storage.postgres.database import PostgresDatabase
from pgs.storage.postgres.lease import number_of
from pgs.storage.postgres.session import DatabaseInUse
from tests.journeys.client import Reply, ok
from tests.journeys.installation import (
    PARTNERS,
    Nodes,
    OneNode,
    Seeded,
    node_in_process,
    owner_of,
    settled,
)
from tests.journeys.nodes import header
from tests.journeys.partners import seat_body
from tests.journeys.play import mint, session_body, socket_of
from tests.journeys.service import until
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


async def seat(node: OneNode, key: str, player: str) -> Reply:
    """Take a seat for a player at a node, with the player's name as the idempotency key."""
    return await node.public.call("POST", "/partner/matches", key, seat_body(player, player))


def read(answer: httpcore.Response) -> Any:
    """Return the body of an answer."""
    return msgspec.json.decode(answer.content)


async def test_each_node_forwards_the_calls_of_partners_that_another_one_owns(
    tmp_path: Path, seeded: Seeded
) -> None:
    async with (
        node_in_process(seeded, tmp_path, "n1") as one,
        node_in_process(seeded, tmp_path, "n2") as two,
        node_in_process(seeded, tmp_path, "n3") as three,
    ):
        nodes = (one, two, three)
        await settled(*nodes)
        assert {owner_of(name, nodes).name for name in PARTNERS} == {"n1", "n2", "n3"}
        for name in PARTNERS:
            key, owner = seeded.partners[name].test, owner_of(name, nodes)
            others = [node for node in nodes if node is not owner]
            first = await seat(others[0], key, "ann")
            assert (ok(first)["status"], first.header("x-pgs-owner")) == ("waiting", owner.name)
            second = ok(await seat(others[1], key, "bob"))
            for node in nodes:
                again = await seat(node, key, "bob")
                assert ok(again)["matchId"] == second["matchId"]
                assert again.header("idempotent-replayed") == "true"
                assert (
                    len(ok(await node.public.call("GET", "/partner/results", key))["results"]) == 2
                )


async def test_a_node_that_stops_hands_its_partners_over_at_once(
    tmp_path: Path, seeded: Seeded
) -> None:
    async with node_in_process(seeded, tmp_path, "n1") as one, trio.open_nursery() as nursery:
        stopping = trio.Event()

        async def run_two(task_status: trio.TaskStatus[OneNode]) -> None:
            async with node_in_process(seeded, tmp_path, "n2") as node:
                task_status.started(node)
                await stopping.wait()

        two = await nursery.start(run_two)
        await settled(one, two)
        name = next(name for name in PARTNERS if two.owns(name))
        key = seeded.partners[name].test
        first = ok(await seat(one, key, "ann"))
        begun = trio.current_time()
        stopping.set()
        await until(lambda: one.owns(name))
        took_s = trio.current_time() - begun
        assert took_s < HOLD_S, took_s  # the shard was given: nobody had to wait for it
        await settled(one)
        again = await seat(one, key, "ann")
        assert ok(again)["seatId"] == first["seatId"]
        assert again.header("idempotent-replayed") == "true"
        assert ok(await seat(one, key, "bob"))["matchId"] is not None


async def test_a_node_hears_that_shards_are_free_without_looking(
    tmp_path: Path, seeded: Seeded, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with node_in_process(seeded, tmp_path, "n1") as one:
        async with node_in_process(seeded, tmp_path, "n2") as two:
            await settled(one, two)
            database = one.service.core.parts.database
            assert isinstance(database, PostgresDatabase)
            assert database.notices is not None
            await database.notices.heard.wait()
            monkeypatch.setattr(node_looks, "LOOK_S", 10 * PATIENCE_S)
            await trio.sleep(0.5)  # until the looks that were due have been taken
        await until(lambda: len(one.shards.owned) == SHARDS)


async def test_a_held_call_and_a_socket_end_when_their_partner_is_handed_over(
    tmp_path: Path, seeded: Seeded
) -> None:
    async with node_in_process(seeded, tmp_path, "n1") as one:
        await settled(one)
        held: list[tuple[str, httpcore.Response]] = []
        codes: list[tuple[str, int]] = []

        async def hold(name: str) -> None:
            key = seeded.partners[name].test
            reply = await one.call("/partner/results?waitSeconds=20", key)
            held.append((name, reply))

        async def play(name: str, task_status: trio.TaskStatus[None]) -> None:
            token = await mint(one.public, seeded.partners[name].test, "ann")
            async with socket_of(one.service.public.base_url, token) as bot:
                task_status.started()
                codes.append((name, await bot.closed()))

        async with trio.open_nursery() as nursery:
            for name in PARTNERS:
                nursery.start_soon(hold, name)
                await nursery.start(play, name)
            bells = one.service.core.parts.bells
            await until(lambda: len(bells) == len(PARTNERS))
            async with node_in_process(seeded, tmp_path, "n2") as two:
                await settled(one, two)
                moved = {name for name in PARTNERS if two.owns(name)}
                await until(lambda: {name for name, _ in held} >= moved)
                await until(lambda: {name for name, _ in codes} >= moved)
                assert {name for name, _ in held} == {name for name, _ in codes} == moved
                assert {code for _, code in codes} == {1001}
                assert {reply.status for _, reply in held} == {500}
                assert {header(reply, "retry-after") for _, reply in held} == {"1"}
                for name in moved:
                    assert not one.service.core.directory.is_open(name)
                nursery.cancel_scope.cancel()


async def test_a_node_that_loses_its_session_forgets_everything_and_doubles_no_seat(
    tmp_path: Path, seeded: Seeded
) -> None:
    async with (
        node_in_process(seeded, tmp_path, "n1") as one,
        node_in_process(seeded, tmp_path, "n2") as two,
    ):
        nodes = (one, two)
        await settled(*nodes)
        name = next(name for name in PARTNERS if one.owns(name))
        key = seeded.partners[name].test
        seats: dict[str, set[str]] = {}
        refused: list[httpcore.Response] = []

        async def take(player: str) -> None:
            while True:  # as a backend repeats a call whose answer it does not know
                reply = await two.call("/partner/matches", key, seat_body(player, player))
                if reply.status == 200:
                    taken = msgspec.json.decode(reply.content)["seatId"]
                    seats.setdefault(player, set()).add(taken)
                    return
                assert reply.status == 503, reply.content
                refused.append(reply)
                await trio.sleep(0.1)

        async with trio.open_nursery() as nursery:
            for number in range(30):
                nursery.start_soon(take, f"p{number}")
                if number == 10:
                    with psycopg.connect(seeded.url, autocommit=True) as connection:
                        connection.execute(
                            "select pg_terminate_backend(pid) from pg_locks where locktype = "
                            "'advisory' and classid = 2 and objid = %s",
                            (number_of("n1"),),
                        )
                await trio.sleep(0.01)
        await settled(*nodes)
        for player in list(seats):
            await take(player)
        assert refused
        assert {len(ids) for ids in seats.values()} == {1}
        with psycopg.connect(seeded.url) as connection:
            rows = connection.execute("select player_id from seat").fetchall()
        assert sorted(player for (player,) in rows) == sorted(seats)


async def named(nodes: Nodes, key: str) -> str | None:
    """Return which node owns a key's partner; None while a node does not know it."""
    found: set[str] = set()
    for node in nodes.names:
        answer = await nodes.call(node, "/partner/me", key)
        if answer.status != 200:
            return None
        found.add(header(answer, "x-pgs-owner") or node)
    return found.pop() if len(found) == 1 else None


async def shared_out(nodes: Nodes, seeded: Seeded) -> None:
    """Return once all nodes own partners, and agree on who owns each."""

    async def is_shared_out() -> bool:
        keys = [partner.test for partner in seeded.partners.values()]
        return {await named(nodes, key) for key in keys} == set(nodes.names)

    await until(is_shared_out)


async def test_a_match_goes_on_at_another_node_after_its_owner_was_killed(
    tmp_path: Path, seeded: Seeded
) -> None:
    with Nodes(seeded, tmp_path, ("n1", "n2", "n3")) as nodes:
        await shared_out(nodes, seeded)
        key = seeded.partners[PARTNERS[0]].test
        owner = await named(nodes, key)
        assert owner is not None
        near, far = [node for node in nodes.names if node != owner]
        seats, tokens = {}, {}
        for player in ("ann", "bob"):
            body = seat_body(player, player)
            seats[player] = read(await nodes.until_ok(near, "/partner/matches", key, body))
            body = session_body(player)
            minted = read(await nodes.until_ok(near, "/partner/sessions", key, body))
            tokens[player] = minted["sessionToken"]
        match_id = seats["bob"]["matchId"]
        async with (
            socket_of(nodes[near].base_url, tokens["ann"]) as ann,
            socket_of(nodes[far].base_url, tokens["bob"]) as bob,
        ):
            seen = {"ann": await ann.ask("join"), "bob": await bob.ask("join")}
            first, second = sorted(seen, key=lambda one: seen[one]["you"] != seen[one]["turn"])
            bots = {"ann": ann, "bob": bob}
            move = seen[first]["legalMoves"][0]
            await bots[first].send("move", matchId=match_id, ply=0, move=move)
            await bots[first].hear_until("moved")
            begun = trio.current_time()
            nodes[owner].end()
            assert (await ann.closed(), await bob.closed()) == (1001, 1001)
        again = await nodes.until_ok(far, "/partner/matches", key, seat_body("ann", "ann"))
        took_s = trio.current_time() - begun
        assert took_s < 6, took_s
        assert header(again, "idempotent-replayed") == "true"
        assert read(again) == seats["ann"] | {"status": "matched", "matchId": match_id}
        async with socket_of(nodes[far].base_url, tokens[second]) as bot:
            now = await bot.ask("join")
            assert (now["matchId"], now["ply"], now["moves"]) == (match_id, 1, [move])
            await bot.send("move", matchId=match_id, ply=1, move=now["legalMoves"][0])
            assert (await bot.hear_until("moved"))["matchId"] == match_id
        done = {"outcome": "ended", "winnerPlayerId": "ann"}
        await nodes.until_ok(far, f"/partner/test/matches/{match_id}/decide", key, done)
        rows = read(await nodes.until_ok(near, "/partner/results", key))["results"]
        assert {row["seatId"] for row in rows} == {seat["seatId"] for seat in seats.values()}
        with psycopg.connect(seeded.url) as connection:
            found = connection.execute("select count(*), count(distinct player_id) from seat")
            assert found.fetchone() == (2, 2)


async def test_nothing_is_answered_from_memory_while_the_database_confirms_no_beat(
    tmp_path: Path, seeded: Seeded, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine must not end the session while its beat waits, nor end its hold without that.
    monkeypatch.setattr(connecting, "STATEMENT_S", PATIENCE_S)
    monkeypatch.setattr(shard_keeper, "BEAT_TIMEOUT_S", PATIENCE_S)
    monkeypatch.setattr(leases, "HOLD_S", PATIENCE_S)
    async with node_in_process(seeded, tmp_path, "n1") as one:
        await settled(one)
        key = seeded.partners[PARTNERS[0]].test
        first = ok(await seat(one, key, "ann"))
        token = await mint(one.public, key, "ann")
        async with socket_of(one.public.base_url, token) as bot:
            assert (await bot.ask("join"))["type"] == "waiting"
            with psycopg.connect(seeded.url) as connection:
                # Each beat waits for this lock. The session lives, so its locks stay.
                connection.execute("select 1 from node where name = 'n1' for update")
                monkeypatch.setattr(leases, "HOLD_S", HOLD_S)
                await until(lambda: not one.shards.owned)
                for path, body, status in (
                    ("/partner/me", None, 500),
                    ("/partner/results", None, 500),
                    ("/partner/matches", seat_body("ann", "ann"), 503),
                ):
                    refused = await one.call(path, key, body)
                    assert (refused.status, header(refused, "retry-after")) == (status, "1"), path
                assert one.service.core.directory.is_open(PARTNERS[0])  # the session is not lost
                await bot.send("join")
                assert await bot.closed() == 1001
        await settled(one)
        monkeypatch.setattr(leases, "HOLD_S", PATIENCE_S)
        again = await seat(one, key, "ann")
        assert ok(again)["seatId"] == first["seatId"]
        assert again.header("idempotent-replayed") == "true"


async def test_a_node_and_a_service_without_a_node_name_refuse_to_start_beside_each_other(
    tmp_path: Path, seeded: Seeded
) -> None:
    alone = Config(
        data_dir=tmp_path / "alone", database_url=seeded.url, secret_key_file=seeded.key_file
    )
    async with node_in_process(seeded, tmp_path, "n1"):
        with pytest.raises(DatabaseInUse):
            async with open_core(alone):
                pass
        with pytest.raises(DatabaseInUse):  # the same name from another folder
            async with node_in_process(seeded, tmp_path / "other", "n1"):
                pass
    async with open_core(alone):
        with pytest.raises(DatabaseInUse):
            async with node_in_process(seeded, tmp_path, "n2"):
                pass
    async with node_in_process(seeded, tmp_path, "n1") as one:  # once the service has stopped
        await settled(one)


async def test_a_node_that_gets_sigterm_ends_in_time_and_its_partners_go_on(
    tmp_path: Path, seeded: Seeded
) -> None:
    with Nodes(seeded, tmp_path, ("n1", "n2")) as nodes:
        await shared_out(nodes, seeded)
        keys = [partner.test for partner in seeded.partners.values()]
        for key in keys:
            await nodes.until_ok("n2", "/partner/matches", key, seat_body("ann", "ann"))
        code, took_s = await trio.to_thread.run_sync(nodes["n1"].stop)
        assert (code, took_s < 15) == (0, True), took_s
        lines = [msgspec.json.decode(line) for line in nodes["n2"].log.read_bytes().splitlines()]
        taken = [line for line in lines if line["event"] == "shards_taken"]
        # The old owner gave them, so the new one need not wait until it surely answers no more.
        assert all(line["wait_s"] == 0 for line in taken), taken
        for key in keys:
            again = await nodes.until_ok("n2", "/partner/matches", key, seat_body("ann", "ann"))
            assert header(again, "idempotent-replayed") == "true"
            assert header(again, "x-pgs-owner") is None
