"""Writes of the admin API whose session with PostgreSQL ends in the middle."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
import trio
from structlog.testing import capture_logs

from pgs.actors.messages.account.settings import AgreeTerms, ChangeLicence
from pgs.actors.messages.seats import Seated, StakeSeat
from pgs.actors.seating.switching_off import close_switched_off
from pgs.domain.members import PLATFORM
from pgs.domain.roles import ADMIN_RULES
from pgs.domain.seats import SeatRequest
from pgs.http.admin.endpoints import PREFIX
from pgs.http.api.responses import UNKNOWN_MESSAGE
from tests.faults.admin_writes import WRITES, Write
from tests.journeys.admin_client import AdminClient, open_admin_with_webhook
from tests.journeys.client import Reply, check_refusal
from tests.journeys.databases import Databases
from tests.journeys.partners import BOTH, BRONZE, account
from tests.journeys.places import Kind, Place, patient_nodes
from tests.journeys.service import until
from tests.patience import PATIENCE_S
from tests.postgres import Server

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

WRITTEN: Final = "partner, event, factor, attempt, seat"
"""Tables of which every write of the admin API writes one."""

OF_NODES: Final = frozenset({"heartbeat", "key_use", "node", "presence", "shard"})
"""Tables that are also written without a call."""

BUGS: Final = ("handler_crashed", "actor_broke", "child_crashed")
"""Events that tell the operator of a bug. A lost session is none."""

ONCE: Final = ["invite.accepted", "invite.accepted", "key.created"]
"""The entries of the event log that accepting an invite and a new key make, if each is done once.
The account's first admin has accepted an invite, too."""

END: Final = (
    "select count(pg_terminate_backend(pid)) from pg_stat_activity "
    "where datname = current_database() and wait_event_type = 'Lock'"
)


@asynccontextmanager
async def opened(folder: Path, postgres: Server, kind: Kind) -> AsyncIterator[AdminClient]:
    """Run an installation of a kind for a block, with the account `acme` and its first admin."""
    place = Place(folder / "service", kind, Databases(postgres, folder))
    with patient_nodes() if place.is_among_nodes else nullcontext():
        async with open_admin_with_webhook(place) as (admin, _):
            yield admin


async def cut(admin: AdminClient, write: Write, answers: dict[str, Any], tables: str) -> Reply:
    """Return the answer to a write whose session ends while it waits for one of these tables."""
    url, replies = admin.service.place.url, list[Reply]()

    async def call() -> None:
        replies.append(await made(admin, write, answers))

    with trio.fail_after(PATIENCE_S), psycopg.connect(url) as holder:
        holder.execute(f"lock table {tables} in exclusive mode".encode())
        with psycopg.connect(url, autocommit=True) as operator:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(call)
                while operator.execute(END).fetchone() == (0,):
                    assert not replies, (write.endpoint, replies)
                    await trio.sleep(0.01)
    return replies[0]


async def made(admin: AdminClient, write: Write, answers: dict[str, Any]) -> Reply:
    """Return the answer to a write."""
    answers["now"] = admin.service.cores[0].parts.clock.now()
    path = write.path if isinstance(write.path, str) else write.path(answers)
    body = write.body(answers) if callable(write.body) else write.body
    return await admin.call(write.endpoint.partition(" ")[0], path, body, who=write.who)


async def repeated(admin: AdminClient, write: Write, answers: dict[str, Any]) -> Reply:
    """Return the first answer to a write that is not the service's fault."""
    with trio.fail_after(PATIENCE_S):
        while True:
            reply = await made(admin, write, answers)
            if reply.status < 500:
                return reply
            await trio.sleep(0.02)


def rows(admin: AdminClient) -> dict[str, bytes]:
    """Return the content of all tables that only calls write."""
    place = admin.service.place
    assert place.databases is not None
    found = place.databases.rows_of(place.folder)
    return {name: content for name, content in found.items() if name not in OF_NODES}


async def counted(admin: AdminClient, event: str) -> float:
    """Return how often the nodes have counted an event."""
    total = 0.0
    for internal in admin.service.internals:
        _, text = await internal.get("/internal/metrics")
        found = re.search(rb'pgs_events_total{event="%b"} ([0-9.]+)' % event.encode(), text)
        assert found
        total += float(found[1])
    return total


def check_unknown(reply: Reply) -> None:
    """Check that an answer says that the outcome is unknown."""
    check_refusal(reply, 500, None)
    assert reply.json["error"] == UNKNOWN_MESSAGE
    assert reply.header("retry-after") is None


def test_the_table_lacks_only_a_resend_and_a_pin_that_has_no_other_version() -> None:
    served = {(rule.method, rule.path.removeprefix(PREFIX)) for rule in ADMIN_RULES}
    writes = {f"{method} {path}" for method, path in served if method != "GET"}
    assert writes - {one.endpoint for one in WRITES} == {
        "POST webhooks/{env}/attempts/{attempt_id}/resend",
        "POST api-version",
    }


async def test_a_write_whose_session_ends_is_answered_as_unknown_and_changes_nothing(
    tmp_path: Path, postgres: Server
) -> None:
    async with opened(tmp_path, postgres, "postgres") as admin:
        invite = await admin.invite("zed", "viewer")
        answers: dict[str, Any] = {"invite": invite.invite_id}
        for write in WRITES:
            before = rows(admin)
            with capture_logs() as lines:
                reply = await cut(admin, write, answers, WRITTEN)
            if write.endpoint == "POST test-match":
                check_refusal(reply, 503, "settlement_unavailable")
            else:
                check_unknown(reply)
            assert rows(admin) == before, write.endpoint
            named = [line["event"] for line in lines if "request_id" in line]
            assert named.count("actor_crashed") == 1, (write.endpoint, named)
            logged = count_events(admin)
            again = await repeated(admin, write, answers)
            # The test event itself was sent, and the answer did not deny it.
            too_soon = again.reason == "test_event_too_soon" if again.status == 429 else False
            assert again.status == 200 or too_soon, (write.endpoint, again.content)
            answers[write.endpoint] = again.json
            assert count_events(admin) - logged <= 1, write.endpoint
        assert await counted(admin, "store_outage") >= len(WRITES)
        for bug in BUGS:
            assert await counted(admin, bug) == 0, bug


async def test_a_write_whose_node_loses_its_session_is_answered_as_unknown_and_done_once(
    tmp_path: Path, postgres: Server
) -> None:
    cut_at = {"POST keys", "POST webhooks/{env}/test", "POST invites/{invite_id}/accept"}
    async with opened(tmp_path, postgres, "node") as admin:
        invite = await admin.invite("zed", "viewer")
        answers: dict[str, Any] = {"invite": invite.invite_id}
        for write in WRITES:
            if write.endpoint in cut_at:
                before = rows(admin)
                check_unknown(await cut(admin, write, answers, WRITTEN))
                assert rows(admin) == before, write.endpoint
            if write.endpoint in cut_at | {"POST webhooks/{env}"}:
                answers[write.endpoint] = (await repeated(admin, write, answers)).json
        with psycopg.connect(admin.service.place.url) as connection:
            found = connection.execute("select action from event where action = any(%s)", [ONCE])
            assert sorted(action for (action,) in found.fetchall()) == ONCE
        for bug in BUGS:
            assert await counted(admin, bug) == 0, bug


async def test_a_write_is_answered_as_unknown_by_the_node_that_forwarded_it(
    tmp_path: Path, postgres: Server
) -> None:
    async with opened(tmp_path, postgres, "nodes") as admin:
        owner = admin.service.cores.index(admin.service.core)
        while admin.service.public.next_url != admin.service.public.urls[owner]:
            pass  # the next call goes to the node after the owner
        write = next(one for one in WRITES if one.endpoint == "POST keys")
        before = rows(admin)
        reply = await cut(admin, write, {}, WRITTEN)
        check_unknown(reply)
        assert reply.header("x-pgs-owner") == f"n{owner + 1}"
        assert rows(admin) == before


@pytest.mark.parametrize("kind", ["postgres", "node"])
async def test_switching_off_that_is_cut_after_its_first_commit_does_not_say_that_nothing_was_done(
    tmp_path: Path, postgres: Server, kind: Kind
) -> None:
    async with opened(tmp_path, postgres, kind) as admin:
        core = admin.service.core
        await account(core, "acme", ChangeLicence(PLATFORM, BOTH, "test_on"))
        await account(core, "acme", AgreeTerms(PLATFORM, 1))
        seat = SeatRequest("ann", BOTH, BRONZE, 100, "one", None)
        taken = await core.directory.partner("acme").seats("test").ask(StakeSeat(seat))
        assert isinstance(taken, Seated)
        write = next(one for one in WRITES if one.endpoint == "POST account/deactivate")
        check_unknown(await cut(admin, write, {}, "seat"))
        again = await repeated(admin, write, {})
        check_refusal(again, 409, "account_inactive")

        async def is_closed() -> bool:
            await close_switched_off(core.parts, core.directory)  # as a chore does every minute
            reply = await admin.call("GET", "account")
            return reply.status == 200 and reply.json["open"]["test"]["waitingSeats"] == 0

        await until(is_closed)
        for bug in BUGS:
            assert await counted(admin, bug) == 0, bug


def count_events(admin: AdminClient) -> int:
    """Return how many entries the accounts' event logs have."""
    with psycopg.connect(admin.service.place.url) as connection:
        found = connection.execute("select count(*) from event").fetchone()
    assert found is not None
    return int(found[0])
