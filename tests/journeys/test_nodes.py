"""Calls at a node that does not own their partner."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
import trio

from pgs.actors.messages.account.lifecycle import CreatePartner
from pgs.actors.messages.account.members import AcceptInvite
from pgs.domain.node_proofs import prove_forward
from pgs.domain.shards import Node
from tests.journeys.admin_client import BOSS, AdminClient, open_admin, person
from tests.journeys.live_stream import Stream
from tests.journeys.nodes import (
    SLOW_HEAD,
    UNSETTLED,
    FakeOwners,
    RunningNode,
    breaking_server,
    check_try_again,
    header,
    running_node,
    share_ring,
    two_nodes,
)
from tests.journeys.partners import seat_body
from tests.journeys.play import Refused, mint, socket_of
from tests.journeys.process import free_port
from tests.journeys.service import Service, until


def is_there(node: RunningNode, player_id: str) -> bool:
    """Return whether a player of `acme` has a socket open at a node's own tables."""
    presence = node.service.core.parts.presence
    return presence.find(("acme", "test", player_id)) is not None


@pytest.mark.parametrize("headers", [[], SLOW_HEAD])
async def test_a_call_at_another_node_is_answered_by_its_owner(
    tmp_path: Path, headers: list[tuple[str, str]]
) -> None:
    async with two_nodes(tmp_path) as (one, two):
        partner = await two.service.partner("acme")
        one.owners.give("acme", two.node)
        me = await one.call("/partner/me", partner.test, headers=headers)
        assert (me.status, msgspec.json.decode(me.content)["partnerId"]) == (200, "acme")
        assert header(me, "x-pgs-owner") == "n2"
        assert header(me, "ratelimit") is not None
        seated = await one.call(
            "/partner/matches", partner.test, seat_body("ann", "a-1"), headers=headers
        )
        assert seated.status == 200
        again = await two.call("/partner/matches", partner.test, seat_body("ann", "a-1"))
        assert (again.content, header(again, "idempotent-replayed")) == (seated.content, "true")
        assert header(again, "x-pgs-owner") is None


@pytest.mark.parametrize("headers", [[], SLOW_HEAD])
async def test_a_refusal_of_the_owner_comes_back_as_it_is(
    tmp_path: Path, headers: list[tuple[str, str]]
) -> None:
    async with two_nodes(tmp_path) as (one, two):
        partner = await two.service.partner("acme")
        one.owners.give("acme", two.node)
        body = seat_body("ann", "a-1") | {"stakeUsdCents": 1}
        there = await two.call("/partner/matches", partner.test, body)
        here = await one.call("/partner/matches", partner.test, body, headers=headers)
        assert (here.status, here.content) == (there.status, there.content)
        assert there.status == 409 or there.status == 400


async def test_a_body_over_the_limit_is_refused_before_it_is_forwarded(tmp_path: Path) -> None:
    async with two_nodes(tmp_path) as (one, two):
        partner = await two.service.partner("acme")
        one.owners.give("acme", two.node)
        long = await one.call("/partner/matches", partner.test, {"long": "x" * 70_000})
        assert long.status == 413
        assert header(long, "x-pgs-owner") is None


async def test_a_frame_of_a_partner_comes_from_its_owner(tmp_path: Path) -> None:
    async with two_nodes(tmp_path) as (one, two):
        await two.service.partner("acme")
        assert (await one.call("/embed/acme")).status == 404
        one.owners.give("acme", two.node)
        answer = await one.call("/embed/acme")
        assert (answer.status, header(answer, "x-pgs-owner")) == (409, "n2")  # it has no origin


async def test_a_held_call_is_answered_when_there_is_news_at_the_owner(tmp_path: Path) -> None:
    async with two_nodes(tmp_path) as (one, two):
        partner = await two.service.partner("acme")
        one.owners.give("acme", two.node)
        bells = two.service.core.parts.bells
        answers = []

        async def poll(headers: list[tuple[str, str]]) -> None:
            answers.append(
                await one.call("/partner/results?waitSeconds=25", partner.test, headers=headers)
            )

        async with trio.open_nursery() as nursery:
            nursery.start_soon(poll, [])
            nursery.start_soon(poll, SLOW_HEAD)
            await until(lambda: bells.count_of("acme") == 2)
            assert answers == []
            for player in ("ann", "bob"):
                await one.call("/partner/matches", partner.test, seat_body(player, f"{player}-1"))
        rows = [len(msgspec.json.decode(answer.content)["results"]) for answer in answers]
        assert rows == [2, 2]


@pytest.mark.parametrize("headers", [[], SLOW_HEAD])
async def test_a_client_that_leaves_a_held_call_frees_its_place_at_the_owner(
    tmp_path: Path, headers: list[tuple[str, str]]
) -> None:
    async with two_nodes(tmp_path) as (one, two):
        partner = await two.service.partner("acme")
        one.owners.give("acme", two.node)
        bells = two.service.core.parts.bells
        path = "/partner/results?waitSeconds=25"
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one.call, path, partner.test, None, headers)
            await until(lambda: bells.count_of("acme") == 1)
            nursery.cancel_scope.cancel()
        await until(lambda: not bells.held())


async def test_a_socket_at_another_node_plays_at_the_owner_and_hears_its_stop(
    tmp_path: Path,
) -> None:
    codes = []

    async def play(one: RunningNode, token: str, task_status: trio.TaskStatus[None]) -> None:
        async with socket_of(f"http://{one.node.address}", token) as bot:
            await bot.send("ping", id=7)
            assert (await bot.hear_until("pong"))["id"] == 7
            task_status.started()
            codes.append(await bot.closed())

    # The inner node stops before the player's task ends.
    async with (
        running_node(tmp_path, "n1") as one,
        trio.open_nursery() as nursery,
        running_node(tmp_path, "n2") as two,
    ):
        share_ring(one.service.core, two.service.core)
        partner = await two.service.partner("acme")
        one.owners.give("acme", two.node)
        token = await mint(two.service.public, partner.test, "ann")
        await nursery.start(play, one, token)
        assert is_there(two, "ann")
        assert not is_there(one, "ann")
    assert codes == [1001]


async def test_a_client_that_leaves_its_socket_leaves_it_at_the_owner_too(tmp_path: Path) -> None:
    async with two_nodes(tmp_path) as (one, two):
        partner = await two.service.partner("acme")
        one.owners.give("acme", two.node)
        token = await mint(two.service.public, partner.test, "ann")
        async with socket_of(f"http://{one.node.address}", token):
            pass
        await until(lambda: not is_there(two, "ann"))


async def test_a_handshake_that_the_owner_refuses_is_refused_in_its_words(tmp_path: Path) -> None:
    async with two_nodes(tmp_path) as (one, two):
        partner = await two.service.partner("acme")
        one.owners.give("acme", two.node)
        token = await mint(two.service.public, partner.test, "ann")
        refusals = []
        for node in (one, two):
            with pytest.raises(Refused) as refused:
                async with socket_of(f"http://{node.node.address}", token[:-1] + "~"):
                    pass
            refusals.append((refused.value.status, refused.value.body))
        assert refusals[0] == refusals[1]
        assert refusals[0][0] == 401


async def test_a_forwarded_call_is_never_forwarded_again(tmp_path: Path) -> None:
    async with two_nodes(tmp_path) as (one, two):
        partner = await two.service.partner("acme")
        token = await mint(two.service.public, partner.test, "ann")
        one.owners.give("acme", two.node)
        two.owners.give("acme", one.node)  # each believes that the other one owns it
        for headers in ([], SLOW_HEAD):
            answer = await one.call("/partner/me", partner.test, headers=headers)
            check_try_again(answer)
        with pytest.raises(Refused) as refused:
            async with socket_of(f"http://{one.node.address}", token):
                pass
        assert (refused.value.status, refused.value.headers["retry-after"]) == (503, "1")


async def test_a_proof_that_no_node_made_changes_nothing(tmp_path: Path) -> None:
    async with two_nodes(tmp_path) as (one, two):
        partner = await two.service.partner("acme")
        one.owners.give("acme", two.node)
        ring = one.service.core.parts.ring
        other = prove_forward(ring, "n1", "req_1", "GET", b"/partner/other", b"")
        for proof in ("x", "a.b", other):
            headers = [("X-Pgs-Forwarded", proof)]
            answer = await one.call("/partner/me", partner.test, headers=headers)
            assert (answer.status, header(answer, "x-pgs-owner")) == (200, "n2")


async def test_a_partner_whom_nobody_owns_is_served_once_somebody_does(tmp_path: Path) -> None:
    async with running_node(tmp_path, "n1") as one:
        partner = await one.service.partner("acme")
        token = await mint(one.service.public, partner.test, "ann")
        one.owners.give("acme", None)
        for headers in ([], SLOW_HEAD):
            check_try_again(await one.call("/partner/me", partner.test, headers=headers))
        with pytest.raises(Refused) as refused:
            async with socket_of(f"http://{one.node.address}", token):
                pass
        assert (refused.value.status, refused.value.headers["retry-after"]) == (503, "1")
        assert refused.value.body["reason"] == "registry_unavailable"
        assert (await one.call("/docs/errors.json")).status == 200
        one.owners.give("acme", one.node)
        assert (await one.call("/partner/me", partner.test)).status == 200


async def test_a_call_whose_owner_cannot_be_reached_is_refused(tmp_path: Path) -> None:
    async with running_node(tmp_path, "n1") as one:
        partner = await one.service.partner("acme")
        one.owners.give("acme", Node("gone", f"127.0.0.1:{free_port()}"))
        for headers in ([], SLOW_HEAD):
            check_try_again(await one.call("/partner/me", partner.test, headers=headers))
            seat = seat_body("ann", "a-1")
            refused = await one.call("/partner/matches", partner.test, seat, headers)
            check_try_again(refused, UNSETTLED)


@pytest.mark.parametrize("half", [b"", b"HTTP/1.1 200 OK\r\ncontent-le"])
async def test_a_call_that_breaks_off_at_its_owner_is_answered_like_a_crash(
    tmp_path: Path, half: bytes
) -> None:
    async with (
        running_node(tmp_path, "n1") as one,
        breaking_server(half) as address,
    ):
        partner = await one.service.partner("acme")
        one.owners.give("acme", Node("broken", address))
        for headers in ([], SLOW_HEAD):
            read = await one.call("/partner/me", partner.test, headers=headers)
            assert (read.status, b'"reason"' in read.content) == (500, False)
            assert header(read, "retry-after") is None
            seat = await one.call(
                "/partner/matches", partner.test, seat_body("ann", "a-1"), headers
            )
            reason = msgspec.json.decode(seat.content)["reason"]
            assert (seat.status, reason) == (503, "settlement_unavailable")


class TwoWithAdmin(msgspec.Struct, frozen=True):
    """Two nodes: `one` forwards the calls of the account's admin to `two`."""

    one: RunningNode
    two: RunningNode
    admin: AdminClient


@asynccontextmanager
async def two_with_admin(folder: Path) -> AsyncIterator[TwoWithAdmin]:
    """Run both nodes for a block. The second one has no account yet."""
    own = Node("n1", f"127.0.0.1:{free_port()}")
    owners = FakeOwners(own)
    async with (
        open_admin(folder / "n1", listen=own.address, owners=owners) as admin,
        running_node(
            folder,
            "n2",
            identity_issuer=admin.issuer.issuer,
            identity_client_id=admin.issuer.client_id,
        ) as two,
    ):
        share_ring(admin.service.core, two.service.core)
        owners.give("acme", two.node)
        yield TwoWithAdmin(RunningNode(admin.service, owners), two, admin)


async def test_a_member_of_an_account_is_served_by_its_owner_and_so_is_the_live_stream(
    tmp_path: Path,
) -> None:
    async with two_with_admin(tmp_path) as nodes:
        one, admin = nodes.one, nodes.admin
        token = admin.issuer.mint_token(person(BOSS), lifetime_s=3600)
        # The other node has no account yet: the refusal is its own.
        assert (await one.call("/partner/admin/account", token)).status == 403
        await make_boss(nodes.two.service, admin)
        account = await one.call("/partner/admin/account", token)
        assert (account.status, header(account, "x-pgs-owner")) == (200, "n2")
        async with await trio.open_tcp_stream("127.0.0.1", int(one.node.address[10:])) as opened:
            stream = Stream(opened)
            head = await stream.open("/partner/admin/live?environment=test", token)
            assert (head.status_code, dict(head.headers)[b"x-pgs-owner"]) == (200, b"n2")
            first = await stream.next()  # it comes at once, although the stream goes on for 50 s
            assert first is not None
            assert first[0] == "budget"


async def test_the_calls_of_one_admin_count_at_the_owner_whichever_node_gets_them(
    tmp_path: Path,
) -> None:
    async with two_with_admin(tmp_path) as nodes:
        await make_boss(nodes.two.service, nodes.admin)
        token = nodes.admin.issuer.mint_token(person(BOSS), lifetime_s=3600)
        for node in (nodes.one, nodes.two):
            assert (await node.call("/partner/admin/account", token)).status == 200
        bucket = nodes.two.service.core.directory.admission.admins
        while bucket.take(BOSS, trio.current_time() + 3600).allowed:
            pass
        for node in (nodes.one, nodes.two):
            refused = await node.call("/partner/admin/account", token)
            assert refused.status == 429
            assert header(refused, "retry-after") is not None
        assert len(nodes.one.service.core.directory.admission.admins) == 1  # it counts there, too


async def make_boss(service: Service, admin: AdminClient) -> None:
    """Create the account and its admin at another service too."""
    there = AdminClient(service, admin.issuer)
    created = await there.command(CreatePartner("Acme", person(BOSS).email))
    await there.command(AcceptInvite(BOSS, person(BOSS).email, created.invite_id))
