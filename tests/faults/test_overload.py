"""When a bucket, a mailbox or the writer's queue is full, a call gets 429 and has no effect."""

from pathlib import Path

import pytest
import trio

from pgs.actors.kernel.cell import MAILBOX_LIMIT
from pgs.actors.messages.account.settings import SetRate
from pgs.actors.messages.seats import (
    SeatDue,
)
from pgs.domain.keys import ENTROPY_BYTES, make_key
from pgs.domain.members import PLATFORM
from pgs.storage.transactions import WriterFull
from tests.faults.broken import FailingWriter, HeldWriter, writer_of
from tests.journeys.client import Reply, check_refusal, ok
from tests.journeys.partners import BOTH, Partner, drain, seat_body
from tests.journeys.service import Service, in_process, until


async def _seat(service: Service, partner: Partner, player_id: str, idempotency_key: str) -> Reply:
    return await service.public.call(
        "POST", "/partner/matches", partner.test, seat_body(player_id, idempotency_key)
    )


async def test_a_full_mailbox_answers_rate_limited_and_seats_nobody(tmp_path: Path) -> None:
    async with in_process(tmp_path) as service:
        partner, other = await service.partner("acme"), await service.partner("zenith")
        held = HeldWriter(service.core.parts.database.writer)
        replies: list[Reply] = []

        async def first() -> None:
            replies.append(await _seat(service, partner, "alice", "a"))

        with writer_of(service.core, held):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(first)
                await until(lambda: held.held == 1)
                for _ in range(MAILBOX_LIMIT):
                    assert (
                        service.core.directory.partner(partner.partner_id)
                        .seats("test")
                        .tell(SeatDue("sea_none"))
                    )
                reply = await _seat(service, partner, "bob", "b")
                check_refusal(reply, 429, "rate_limited")
                assert reply.header("ratelimit") is not None
                # Other partners, and calls that do not use that mailbox, are still served.
                ok(
                    await service.public.call(
                        "POST",
                        "/partner/sessions",
                        partner.test,
                        {"gameId": BOTH, "playerId": "bob"},
                    )
                )
                ok(await service.public.call("GET", "/partner/results", partner.test))
                nursery.start_soon(_seat, service, other, "carol", "c")
                await until(lambda: held.held == 2)
                held.released.set()
        assert ok(replies[0])["status"] == "waiting"
        second = await _seat(service, partner, "bob", "b")
        assert ok(second)["status"] == "matched"
        assert second.header("idempotent-replayed") is None


async def test_a_full_writer_answers_rate_limited_and_seats_nobody(tmp_path: Path) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        with writer_of(service.core, FailingWriter(service.core.parts.database.writer, WriterFull)):
            for _ in range(6):
                reply = await _seat(service, partner, "alice", "a")
                check_refusal(reply, 429, "rate_limited")
        reply = await _seat(service, partner, "alice", "a")
        assert ok(reply)["status"] == "waiting"
        assert reply.header("idempotent-replayed") is None


async def test_a_call_refused_by_the_process_bucket_shows_the_partners_bucket(
    tmp_path: Path,
) -> None:
    async with in_process(tmp_path, process_rate=40) as service:
        one, other = await service.partner("acme"), await service.partner("zenith")
        later = trio.current_time() + 60
        while service.core.directory.admission.process.admit(later).allowed:
            pass
        for partner in (one, other):
            reply = await service.public.call("GET", "/partner/me", partner.test)
            check_refusal(reply, 429, "rate_limited")
            assert reply.header("ratelimit-policy") == '"partner";q=100000;w=1'
            assert reply.left > 0


async def test_a_limited_partner_takes_nothing_from_the_process_bucket(tmp_path: Path) -> None:
    async with in_process(tmp_path, process_rate=40) as service:
        partner, other = await service.partner("acme", burst=20), await service.partner("zenith")
        drain(service.core, partner.partner_id)
        for _ in range(60):
            check_refusal(
                await service.public.call("GET", "/partner/me", partner.test), 429, "rate_limited"
            )
        ok(await service.public.call("GET", "/partner/me", other.test))


async def test_unknown_keys_share_a_bucket_of_their_own(tmp_path: Path) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        strangers = [
            make_key("test", name, bytes([number]) * ENTROPY_BYTES)
            for number, name in enumerate(("acme", "nobody"))
        ]
        for stranger in strangers:
            check_refusal(
                await service.public.call("GET", "/partner/me", stranger), 401, "invalid_key"
            )
        later = trio.current_time() + 60
        while service.core.directory.admission.process.admit_unknown(later).allowed:
            pass
        for stranger in strangers:
            reply = await service.public.call("GET", "/partner/me", stranger)
            check_refusal(reply, 429, "rate_limited")
            assert (reply.version, reply.header("ratelimit")) == (1, None)
        check_refusal(
            await service.public.call("GET", "/partner/me", "pgs_test_" + "0" * 46),
            401,
            "invalid_key",
        )
        ok(await service.public.call("GET", "/partner/me", partner.test))


@pytest.mark.parametrize("environment", ["test", "live"])
async def test_an_operator_can_widen_a_partners_bucket(tmp_path: Path, environment: str) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner(burst=10)
        key = partner.test if environment == "test" else partner.live
        assert (await service.public.call("GET", "/partner/me", key)).header(
            "ratelimit-policy"
        ) == '"partner";q=10;w=1'
        await (
            service.core.directory.partner(partner.partner_id)
            .account()
            .ask(SetRate(PLATFORM, 1000, 3))
        )
        assert (await service.public.call("GET", "/partner/me", key)).header(
            "ratelimit-policy"
        ) == '"partner";q=1000;w=334'
