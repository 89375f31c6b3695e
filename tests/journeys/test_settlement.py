"""Stakes and payouts through the reference settlement server, over real sockets."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs

from tests.journeys.client import Reply, check_refusal, ok
from tests.journeys.partners import Partner, seat_body
from tests.journeys.places import Place
from tests.journeys.service import Service, in_process, until
from tests.journeys.settlement import SettlementProcess


@pytest.fixture
def books(tmp_path: Path) -> Iterator[SettlementProcess]:
    process = SettlementProcess(tmp_path / "settlement")
    process.start()
    yield process
    process.end()


def settings(books: SettlementProcess) -> dict[str, Any]:
    return {"settlement_url": books.url, "settlement_token_file": books.token_file}


async def take(service: Service, partner: Partner, player: str) -> Reply:
    return await service.public.call(
        "POST", "/partner/matches", partner.test, seat_body(player, player)
    )


async def ledger(books: SettlementProcess) -> Any:
    return await trio.to_thread.run_sync(lambda: books.call("GET", "/ledger"))


async def metric(service: Service, name: str) -> float:
    status, text = await service.internal.get("/internal/metrics")
    assert status == 200
    return sum(
        float(line.rpartition(" ")[2])
        for line in text.decode().splitlines()
        if line.startswith(name)
    )


async def test_a_match_is_charged_and_paid_at_the_server(
    place: Place, books: SettlementProcess
) -> None:
    async with in_process(place, **settings(books)) as service:
        partner = await service.partner()
        first = ok(await take(service, partner, "ann"))
        second = ok(await take(service, partner, "bob"))
        assert (first["status"], second["status"]) == ("waiting", "matched")
        match = second["matchId"]
        body = {"outcome": "ended", "winnerPlayerId": "ann"}
        ok(
            await service.public.call(
                "POST", f"/partner/test/matches/{match}/decide", partner.test, body
            )
        )

        async def recorded() -> bool:
            rows = ok(await service.public.call("GET", "/partner/results", partner.test))
            return all("payoutUsdCents" in row for row in rows["results"])

        await until(recorded)
        assert await metric(service, 'pgs_settlement_seconds_count{kind="charge"') == 2
        assert await metric(service, 'pgs_settlement_seconds_count{kind="payout"') == 1
        assert await metric(service, "pgs_settlement_breaker") == 0
    report = await ledger(books)
    assert report["sound"]
    assert report["totals"] == [
        {
            "partnerId": "acme",
            "environment": "test",
            "seats": 2,
            "payouts": 1,
            "chargedUsdCents": 200,
            "prizesUsdCents": 180,
            "refundsUsdCents": 0,
            "playerUsdCents": -20,
        }
    ]


async def test_a_declined_stake_is_a_402_on_every_call(
    place: Place, books: SettlementProcess
) -> None:
    await trio.to_thread.run_sync(lambda: books.call("PUT", "/faults", ["decline=1"]))
    async with in_process(place, **settings(books)) as service:
        partner = await service.partner()
        for _ in range(2):
            reply = await take(service, partner, "ann")
            assert (reply.status, reply.reason) == (402, "stake_declined")
    assert (await ledger(books))["declinedCharges"] == 1


@pytest.mark.parametrize("fault", ["500=1", "garbage=1", "cut-before=1", "cut-after=1"])
async def test_without_a_valid_answer_the_call_is_503_and_its_retry_finds_the_one_charge(
    fault: str, place: Place, books: SettlementProcess
) -> None:
    await trio.to_thread.run_sync(lambda: books.call("PUT", "/faults", [fault]))
    async with in_process(place, **settings(books)) as service:
        partner = await service.partner()
        check_refusal(await take(service, partner, "ann"), 503, "settlement_unavailable")
        await trio.to_thread.run_sync(lambda: books.call("PUT", "/faults", []))
        seat = ok(await take(service, partner, "ann"))
        assert (seat["status"], seat["stakeStatus"]) == ("waiting", "confirmed")
        report = await ledger(books)
        assert (report["sound"], report["totals"][0]["seats"]) == (True, 1)


async def test_a_stake_that_is_pending_is_confirmed_once_the_server_decides(
    place: Place, books: SettlementProcess
) -> None:
    await trio.to_thread.run_sync(lambda: books.call("PUT", "/faults", ["pending=1:0.2"]))
    async with in_process(place, **settings(books)) as service:
        partner = await service.partner()
        assert ok(await take(service, partner, "ann"))["stakeStatus"] in ("pending", "confirmed")

        async def confirmed() -> bool:
            return bool(ok(await take(service, partner, "ann"))["status"] == "waiting")

        await until(confirmed)
    report = await ledger(books)
    # It was looked up, and never posted again.
    assert (report["sound"], report["repeatedCharges"]) == (True, 0)


async def test_a_wrong_token_is_a_503_and_appears_nowhere(
    place: Place, books: SettlementProcess
) -> None:
    wrong = books.folder / "wrong"
    wrong.write_text("no-such-t0ken")
    own = settings(books) | {"settlement_token_file": wrong}
    with capture_logs() as lines:
        async with in_process(place, **own) as service:
            partner = await service.partner()
            reply = await take(service, partner, "ann")
            check_refusal(reply, 503, "settlement_unavailable")
            _, metrics = await service.internal.get("/internal/metrics")
    (line,) = (line for line in lines if line["event"] == "settlement_unanswered")
    assert (line["error"], line["partner_id"], line["tries"]) == (
        "the response has status 401",
        "acme",
        1,
    )
    assert line["request_id"] == reply.header("x-request-id")
    assert "no-such-t0ken" not in str(lines) + metrics.decode()
