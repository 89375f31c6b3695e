"""What callers get when an actor crashes or a commit fails."""

from pathlib import Path
from typing import Any

import pytest
import trio

from pgs.actors.seating import staking
from pgs.actors.seating.seats_actor import SeatsActor
from pgs.http.api.responses import INTERNAL_MESSAGE
from pgs.storage.transactions import OutcomeUnknown, WriteFailed
from tests.faults.broken import FailingWriter, writer_of
from tests.journeys.client import Reply, check_refusal, ok
from tests.journeys.partners import BOTH, Partner, seat_body
from tests.journeys.service import Service, in_process

# A partner's actors may crash this often within half a minute. After one more crash, the partner
# is degraded.
RESTARTS = 3


def _bug(*_: Any) -> Any:
    raise RuntimeError("a bug, said a test, with pgs_live_ secrets in its message")


async def _seat(
    service: Service, partner: Partner, player_id: str = "alice", idempotency_key: str = "a"
) -> Reply:
    return await service.public.call(
        "POST", "/partner/matches", partner.test, seat_body(player_id, idempotency_key)
    )


async def _decide(service: Service, partner: Partner, match_id: str) -> Reply:
    return await service.public.call(
        "POST", f"/partner/test/matches/{match_id}/decide", partner.test, {"outcome": "no_contest"}
    )


async def test_a_crash_answers_settlement_unavailable_on_seating_and_a_bare_500_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        waiting = ok(await _seat(service, partner))
        match_id = ok(await _seat(service, partner, "bob", "b"))["matchId"]
        with monkeypatch.context() as broken:
            broken.setattr(staking, "find_price", _bug)
            check_refusal(
                await _seat(service, partner, "carol", "c"), 503, "settlement_unavailable"
            )
            # The restarted actor has read its seats from the database.
            assert ok(await _seat(service, partner))["seatId"] == waiting["seatId"]
        with monkeypatch.context() as broken:
            broken.setattr(SeatsActor, "match", _bug)
            reply = await _decide(service, partner, match_id)
            check_refusal(reply, 500, None)
            assert reply.json["error"] == INTERNAL_MESSAGE
            assert reply.header("ratelimit") is not None
        assert ok(await _seat(service, partner, "carol", "c"))["status"] == "waiting"
        ok(await _decide(service, partner, match_id))


async def test_only_the_partner_whose_actors_keep_crashing_is_degraded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with in_process(tmp_path) as service:
        partner, other = await service.partner("acme"), await service.partner("zenith")
        ok(await _seat(service, partner))
        match_id = ok(await _seat(service, partner, "bob", "b"))["matchId"]
        with monkeypatch.context() as broken:
            broken.setattr(staking, "find_price", _bug)
            for number in range(RESTARTS + 1):
                check_refusal(
                    await _seat(service, partner, "carol", f"c{number}"),
                    503,
                    "settlement_unavailable",
                )
        assert service.core.directory.partner(partner.partner_id).restarts.degraded(
            trio.current_time()
        )
        check_refusal(await _seat(service, partner, "carol", "c"), 503, "settlement_unavailable")
        check_refusal(await _decide(service, partner, match_id), 500, None)
        for method, path, body in (
            ("GET", "/partner/me", None),
            ("GET", f"/partner/matches/{match_id}", None),
            ("GET", "/partner/results", None),
            ("POST", "/partner/sessions", {"gameId": BOTH, "playerId": "alice"}),
        ):
            ok(await service.public.call(method, path, partner.test, body or {}))
        assert ok(await _seat(service, other))["status"] == "waiting"


@pytest.mark.parametrize("error", [WriteFailed, OutcomeUnknown])
async def test_after_a_failed_commit_the_same_idempotency_key_can_be_used_again(
    tmp_path: Path, error: type[Exception]
) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        ok(await _seat(service, partner))
        with writer_of(service.core, FailingWriter(service.core.parts.database.writer, error)):
            for _ in range(RESTARTS + 2):  # failures of the disk do not degrade a partner
                check_refusal(
                    await _seat(service, partner, "bob", "b"), 503, "settlement_unavailable"
                )
            ok(await service.public.call("GET", "/partner/results", partner.test))
        assert ok(await _seat(service, partner, "bob", "b"))["status"] == "matched"
        assert (
            len(ok(await service.public.call("GET", "/partner/results", partner.test))["results"])
            == 2
        )


async def test_a_decision_whose_commit_fails_answers_500_and_can_be_made_again(
    tmp_path: Path,
) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        ok(await _seat(service, partner))
        match_id = ok(await _seat(service, partner, "bob", "b"))["matchId"]
        with writer_of(service.core, FailingWriter(service.core.parts.database.writer)):
            check_refusal(await _decide(service, partner, match_id), 500, None)
        assert (
            ok(await service.public.call("GET", f"/partner/matches/{match_id}", partner.test))[
                "status"
            ]
            == "started"
        )
        ok(await _decide(service, partner, match_id))


async def test_a_handler_that_crashes_answers_500_without_details(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        monkeypatch.setattr(type(service.core.parts.catalogue), "published", _bug)
        reply = await service.public.call("GET", "/partner/me", partner.test)
        check_refusal(reply, 500, None)
        assert b"pgs_live_" not in reply.content
        assert reply.version == 1


async def test_a_client_that_disconnects_does_not_undo_its_call(tmp_path: Path) -> None:
    async with in_process(tmp_path) as service:
        partner = await service.partner()
        with trio.move_on_after(0.0005):
            await _seat(service, partner)
        reply = await _seat(service, partner)
        assert ok(reply)["status"] == "waiting"
        assert ok(await _seat(service, partner, "bob", "b"))["status"] == "matched"
