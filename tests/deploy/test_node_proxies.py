"""The proxies of `deploy/` in front of three nodes: every request reaches the partner's owner."""

from pathlib import Path

import httpcore
import msgspec
import pytest
import trio

from pgs.domain.keyring import new_ring
from pgs.domain.keys import ENTROPY_BYTES, make_key
from pgs.domain.sessions import SessionClaims, sign_session
from pgs.domain.shards import shard_of
from tests.deploy.proxies import MAKERS, Proxy, proxied
from tests.deploy.stand_ins import NAMES, StandIns, stand_ins
from tests.journeys.play import socket_of
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("kind", sorted(MAKERS))]

PARTNERS = ["acme", "best-test", "zebra-7"]
TIMEOUTS = {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), PATIENCE_S)}


def test_the_partners_of_these_tests_are_in_different_shards(kind: str) -> None:
    assert len({shard_of(partner_id) for partner_id in PARTNERS}) == len(PARTNERS)


def key_of(partner_id: str) -> str:
    return make_key("live", partner_id, b"e" * ENTROPY_BYTES)


def token_of(partner_id: str) -> str:
    claims = SessionClaims(partner_id, "test", "reversi", "ann", None, 1, 2, 0)
    return sign_session(claims, new_ring(b"k" * 6, b"s" * 32))


def ways_to(partner_id: str) -> list[tuple[str, str, str | None]]:
    """Return the kinds of requests that belong to a partner: method, path and credential."""
    return [
        ("GET", "/partner/me", key_of(partner_id)),
        ("POST", "/partner/matches", key_of(partner_id).replace("live", "test")),
        ("GET", "/game/session", token_of(partner_id)),
        ("GET", f"/embed/{partner_id}", None),
        ("GET", f"/embed/test/{partner_id}", None),
        ("GET", f"/embed/test/{partner_id}/logo/0a1b", None),
        ("GET", f"/portal/frame/test/{partner_id}", None),
    ]


async def node_for(
    pool: httpcore.AsyncConnectionPool, proxy: Proxy, method: str, path: str, credential: str | None
) -> str:
    """Return the name of the node that answered; check that no header tells it to clients."""
    answer = await pool.request(
        method,
        proxy.base_url + path,
        headers=[] if credential is None else [("Authorization", f"Bearer {credential}")],
        content=b"{}" if method == "POST" else None,
        extensions=TIMEOUTS,
    )
    assert answer.status == 200, answer.content
    assert "x-pgs-owner" not in {name.decode().lower() for name, _ in answer.headers}
    return str(msgspec.json.decode(answer.content)["node"])


def first_requests_only(kind: str, nodes: StandIns) -> bool:
    """Return whether nodes forwarded only requests whose owner the proxy could not know yet.

    HAProxy learns a shard's owner with the first request. nginx, without `pgs-owners`, sends all
    requests of one slot, or of one partner's frames, to the same node.
    """
    places = 2 if kind == "nginx" else 1
    forwarding = [name for name, events in nodes.events.items() if "forwarded" in events]
    return len(forwarding) <= places * len(PARTNERS) and (
        kind == "nginx" or nodes.forwarded <= len(PARTNERS)
    )


async def test_every_request_of_a_partner_reaches_its_owner_and_follows_it_when_it_moves(
    kind: str, tmp_path: Path
) -> None:
    async with (
        stand_ins() as nodes,
        proxied(kind, tmp_path / kind, 0, nodes=nodes.addresses) as proxy,
        proxy.pool() as pool,
    ):
        for turn in range(3):
            for number, partner_id in enumerate(PARTNERS):
                owner = NAMES[(number + turn) % 3]
                nodes.give(partner_id, owner)
                for way in ways_to(partner_id):
                    assert await node_for(pool, proxy, *way) == owner, (partner_id, way)
            assert first_requests_only(kind, nodes), nodes.events
            for events in nodes.events.values():
                events.clear()


async def test_requests_of_no_partner_are_answered_by_some_node(kind: str, tmp_path: Path) -> None:
    async with (
        stand_ins() as nodes,
        proxied(kind, tmp_path / kind, 0, nodes=nodes.addresses) as proxy,
        proxy.pool() as pool,
    ):
        for path in ("/", "/docs/", "/embed/pgs-embed.js", "/partner/me"):
            assert await node_for(pool, proxy, "GET", path, None) in NAMES
        assert await node_for(pool, proxy, "GET", "/partner/me", "eyJ.identity") in NAMES
        assert nodes.forwarded == 0


@pytest.mark.parametrize(
    "path",
    [
        "/nodes/commands",
        "/nodes/commands/again",
        "/nodes",
        "/internal/shards",
        "/%6eodes/commands",
        "//nodes/commands",
        "/nodes%2Fcommands",
        "/nodes/commands?a=b",
    ],
)
async def test_what_nodes_say_to_each_other_is_not_taken_from_outside(
    kind: str, tmp_path: Path, path: str
) -> None:
    async with (
        stand_ins() as nodes,
        proxied(kind, tmp_path / kind, 0, nodes=nodes.addresses) as proxy,
        proxy.pool() as pool,
    ):
        for method in ("GET", "POST"):
            answer = await pool.request(method, proxy.base_url + path, extensions=TIMEOUTS)
            told = msgspec.json.decode(answer.content)
            assert (answer.status, told) == (404, {"error": "There is nothing at this path."})
        assert not any(nodes.events.values())
        for path_outside in ("/nodesque", "/partner/nodes/1", "/docs/internal"):
            assert await node_for(pool, proxy, "GET", path_outside, None) in NAMES


@pytest.mark.parametrize("by_header", [False, True])
async def test_a_socket_reaches_the_owner_and_follows_it_when_it_moves(
    kind: str, tmp_path: Path, by_header: bool
) -> None:
    async with (
        stand_ins() as nodes,
        proxied(kind, tmp_path / kind, 0, nodes=nodes.addresses) as proxy,
    ):
        for owner in (*NAMES, "n1"):
            nodes.give("acme", owner)
            token = token_of("acme")
            headers = [(b"authorization", f"Bearer {token}".encode())] if by_header else None
            offered = ["pgs.game.v1"] if by_header else None
            for _ in range(2):
                async with socket_of(
                    proxy.base_url, token, tls=proxy.tls, subprotocols=offered, headers=headers
                ) as bot:
                    heard = await bot.ask("move", n=1)
                    assert (heard["node"], "move" in heard["heard"]) == (owner, True)
            # HAProxy learned the owner from the first of the two, if it did not know it.
            assert kind == "nginx" or nodes.forwarded <= 1
            for events in nodes.events.values():
                events.clear()


async def test_when_an_owner_is_gone_its_requests_reach_the_next_one(
    kind: str, tmp_path: Path
) -> None:
    async with (
        stand_ins() as nodes,
        proxied(kind, tmp_path / kind, 0, nodes=nodes.addresses) as proxy,
        proxy.pool() as pool,
    ):
        for partner_id in PARTNERS:
            nodes.give(partner_id, "n2")
            assert await node_for(pool, proxy, *ways_to(partner_id)[0]) == "n2"
        for partner_id in PARTNERS:
            nodes.give(partner_id, "n3")
        nodes.stops["n2"].set()
        await trio.sleep(0.5)
        for partner_id in PARTNERS:
            for way in ways_to(partner_id):
                assert await node_for(pool, proxy, *way) == "n3"
