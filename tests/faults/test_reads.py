"""What callers get when reads fail or snapshots are too old. No call stays half done."""

from pathlib import Path

import pytest
import trio

from pgs.domain.keys import ENTROPY_BYTES, make_key
from tests.faults.broken import reads_fail
from tests.journeys.client import Reply, check_refusal, ok
from tests.journeys.partners import BOTH, Partner, drain, seat_body
from tests.journeys.service import Service, in_process, until

TOO_OLD_S = 600.0


async def _seat(
    service: Service, partner: Partner, player_id: str = "alice", idempotency_key: str = "a"
) -> Reply:
    return await service.public.call(
        "POST", "/partner/matches", partner.test, seat_body(player_id, idempotency_key)
    )


@pytest.mark.parametrize(
    ("query", "method", "path", "body"),
    [
        ("results.page", "GET", "/partner/results", None),
        ("results.page", "GET", "/partner/results?waitSeconds=25", None),
        ("seats.find_seat", "GET", "/partner/seats/{seat}", None),
        ("matches.find_match", "GET", "/partner/seats/{seat}", None),
        ("matches.find_match", "GET", "/partner/matches/{match}", None),
        ("seats.seats_of_match", "GET", "/partner/matches/{match}", None),
        ("webhooks.find_webhook", "GET", "/partner/me", None),
        (
            "moves.running_seats_of_player",
            "POST",
            "/partner/sessions",
            {"gameId": BOTH, "playerId": "alice"},
        ),
        (
            "matches.find_match",
            "POST",
            "/partner/test/matches/{match}/decide",
            {"outcome": "no_contest"},
        ),
        (
            "seats.seats_of_match",
            "POST",
            "/partner/test/matches/{match}/decide",
            {"outcome": "no_contest"},
        ),
    ],
)
async def test_a_failed_read_answers_registry_unavailable_until_reads_work_again(
    tmp_path: Path, query: str, method: str, path: str, body: dict[str, object] | None
) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        seat = ok(await _seat(service, partner))
        match = ok(await _seat(service, partner, "bob", "b"))
        path = path.format(seat=seat["seatId"], match=match["matchId"])
        with reads_fail(service.core, query):
            reply = await service.public.call(
                method, path, partner.test, body if body is not None else {}
            )
            check_refusal(reply, 500, "registry_unavailable")
            assert reply.header("ratelimit") is not None
        ok(await service.public.call(method, path, partner.test, body if body is not None else {}))


@pytest.mark.parametrize(
    "query",
    [
        "seats.find_head",
        "seats.waiting_seats",
    ],
)
async def test_when_seats_cannot_be_read_seating_is_refused_and_nobody_is_seated(
    tmp_path: Path, query: str
) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        with reads_fail(service.core, query):
            for _ in range(2):
                check_refusal(await _seat(service, partner), 503, "settlement_unavailable")
        reply = await _seat(service, partner)
        assert ok(reply)["status"] == "waiting"
        assert reply.header("idempotent-replayed") is None


async def test_when_keys_cannot_be_looked_up_repeats_are_refused_and_new_seats_are_taken(
    tmp_path: Path,
) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        seat = ok(await _seat(service, partner))
        with reads_fail(service.core, "seats.find_by_idempotency_key"):
            # More often than a partner may crash: failures of the disk do not degrade it.
            for _ in range(6):
                check_refusal(await _seat(service, partner), 503, "settlement_unavailable")
            ok(await _seat(service, partner, "bob", "b"))
        reply = await _seat(service, partner)
        assert ok(reply)["seatId"] == seat["seatId"]
        assert reply.header("idempotent-replayed") == "true"


async def test_a_failing_disk_does_not_stop_calls_that_need_no_disk(tmp_path: Path) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        with reads_fail(service.core):
            ok(await service.public.call("GET", f"/partner/tiers?gameId={BOTH}", partner.test))
            check_refusal(
                await service.public.call("GET", "/partner/me", "pgs_test_x"), 401, "invalid_key"
            )
            check_refusal(
                await service.public.call("GET", "/partner/results?limit=0", partner.test),
                400,
                None,
            )


async def test_a_tier_snapshot_that_is_too_old_stops_only_tiers_and_seating(tmp_path: Path) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        taken = ok(await _seat(service, partner))
        service.core.parts.catalogue.age.renew(trio.current_time() - TOO_OLD_S)
        tiers = f"/partner/tiers?gameId={BOTH}"
        check_refusal(
            await service.public.call("GET", tiers, partner.test), 503, "settlement_unavailable"
        )
        check_refusal(await _seat(service, partner, "bob", "b"), 503, "settlement_unavailable")
        # Calls that do not need the tiers, and refusals decided before them, do not change.
        assert ok(await _seat(service, partner)) == taken
        for method, path, body in (
            ("GET", "/partner/me", None),
            ("GET", "/partner/results", None),
            ("GET", f"/partner/seats/{taken['seatId']}", None),
            ("POST", "/partner/sessions", {"gameId": BOTH, "playerId": "alice"}),
        ):
            ok(await service.public.call(method, path, partner.test, body or {}))
        check_refusal(
            await service.public.call("GET", "/partner/tiers?gameId=tiddlywinks", partner.test),
            403,
            "game_not_licensed",
        )
        await service.core.parts.catalogue.refresh()
        ok(await service.public.call("GET", tiers, partner.test))
        assert ok(await _seat(service, partner, "bob", "b"))["status"] == "matched"


async def test_a_registry_that_is_almost_too_old_still_answers(tmp_path: Path) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        service.core.parts.registry.age.renew(trio.current_time() - TOO_OLD_S + 60)
        ok(await service.public.call("GET", "/partner/me", partner.test))


async def test_a_registry_that_is_too_old_refuses_all_keys_alike_until_it_is_read_again(
    tmp_path: Path,
) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        service.core.parts.registry.age.renew(trio.current_time() - TOO_OLD_S)
        stranger = make_key("test", "nobody", bytes(ENTROPY_BYTES))
        for key in (partner.test, partner.live, stranger):
            reply = await service.public.call("GET", "/partner/me", key)
            check_refusal(reply, 500, "registry_unavailable")
            assert reply.header("ratelimit") is None
        check_refusal(
            await service.public.call("GET", "/partner/me", partner.test[:-1]), 401, "invalid_key"
        )
        assert (await service.internal.send("POST", "/internal/registry/refresh"))[0] == 200
        ok(await service.public.call("GET", "/partner/me", partner.test))
        check_refusal(await service.public.call("GET", "/partner/me", stranger), 401, "invalid_key")


async def test_a_registry_that_is_too_old_uses_only_the_process_bucket(tmp_path: Path) -> None:
    async with in_process(tmp_path, process_rate=50) as service:
        partner = await service.partner(burst=50)
        service.core.parts.registry.age.renew(trio.current_time() - TOO_OLD_S)
        drain(service.core, partner.partner_id)
        # The partner's empty bucket is not used. `drain` has also emptied the process bucket, which
        # refuses the call.
        reply = await service.public.call("GET", "/partner/me", partner.test)
        check_refusal(reply, 429, "rate_limited")
        assert reply.header("ratelimit") is None
        assert reply.version == 1


async def test_a_registry_that_becomes_too_old_ends_a_held_call(tmp_path: Path) -> None:
    async with in_process(tmp_path) as service, trio.open_nursery() as nursery:
        partner = await service.partner()
        answers: list[Reply] = []

        async def poll() -> None:
            answers.append(
                await service.public.call("GET", "/partner/results?waitSeconds=25", partner.test)
            )

        nursery.start_soon(poll)
        parts = service.core.parts
        await until(lambda: len(parts.bells) > 0)
        parts.registry.age.renew(trio.current_time() - TOO_OLD_S)
        parts.bells.ring(partner.partner_id, "test")
        await until(lambda: bool(answers))
        check_refusal(answers[0], 500, "registry_unavailable")
