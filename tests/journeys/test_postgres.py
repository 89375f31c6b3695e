"""A service on PostgreSQL seats, pairs, decides and pays, and goes on after its end."""

from pathlib import Path

import pytest
import trio

from pgs.service_readiness import FAILED_RECENTLY_S
from tests.journeys.client import ok
from tests.journeys.partners import seat_body
from tests.journeys.service import in_process, until
from tests.postgres import Server, running_server

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


async def test_a_match_is_played_on_postgresql_and_is_there_after_a_restart(
    tmp_path: Path, postgres: Server
) -> None:
    url = postgres.new_database()
    async with in_process(tmp_path, database_url=url) as service:
        partner = await service.partner()
        seats = [
            ok(
                await service.public.call(
                    "POST", "/partner/matches", partner.test, seat_body(player, player)
                )
            )
            for player in ("ann", "bob")
        ]
        match_id = seats[1]["matchId"]
        ok(
            await service.public.call(
                "POST",
                f"/partner/test/matches/{match_id}/decide",
                partner.test,
                {"outcome": "no_contest"},
            )
        )
        assert (await service.internal.get("/internal/readyz"))[0] == 200
    async with in_process(tmp_path, database_url=url) as service:
        page = ok(await service.public.call("GET", "/partner/results", partner.test))
        assert {row["matchId"] for row in page["results"]} == {match_id}
        again = await service.public.call(
            "POST", "/partner/matches", partner.test, seat_body("ann", "ann")
        )
        assert ok(again)["seatId"] == seats[0]["seatId"]
    assert not (tmp_path / "pgs.db").exists()


async def test_a_service_is_ready_soon_after_its_database_was_gone_although_nobody_calls(
    tmp_path: Path,
) -> None:
    """A proxy asks for readiness only, and sends no call until the service is ready."""
    with running_server() as server:
        async with in_process(tmp_path, database_url=server.new_database()) as service:
            server.crash()
            assert (await service.internal.get("/internal/readyz"))[0] == 503
            await trio.to_thread.run_sync(server.start)
            back = trio.current_time()

            async def ready() -> bool:
                return (await service.internal.get("/internal/readyz"))[0] == 200

            await until(ready)
            assert trio.current_time() - back < FAILED_RECENTLY_S / 2
            partner = await service.partner()
            assert ok(await service.public.call("GET", "/partner/me", partner.test))
