"""The reference settlement server: idempotent by key, faults on demand, sound books."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpcore
import pytest

from tests.conventions.tree import ROOT
from tests.journeys.settlement import SettlementProcess
from tests.patience import PATIENCE_S

sys.path.insert(0, str(ROOT / "scripts"))

from reference_settlement.faults import KINDS, BadFault, parse

CHARGE = {
    "seatId": "sea_1",
    "partnerId": "acme",
    "environment": "test",
    "playerId": "ann",
    "amountUsdCents": 100,
}
PAYOUT = {**CHARGE, "matchId": "mat_1", "kind": "refund"}


@pytest.fixture
def books(tmp_path: Path) -> Iterator[SettlementProcess]:
    process = SettlementProcess(tmp_path / "books")
    process.start()
    yield process
    process.end()


def post(books: SettlementProcess, noun: str, body: dict[str, Any], key: str) -> tuple[int, Any]:
    response = httpcore.request(
        "POST",
        f"{books.url}/{noun}",
        headers={
            "Authorization": f"Bearer {books.token_file.read_text().strip()}",
            "Idempotency-Key": key,
        },
        content=json.dumps(body).encode(),
    )
    return response.status, json.loads(response.content)


def charge(books: SettlementProcess, **changes: Any) -> tuple[int, Any]:
    body = CHARGE | changes
    return post(books, "charges", body, str(body["seatId"]))


def pay(books: SettlementProcess, **changes: Any) -> tuple[int, Any]:
    body = PAYOUT | changes
    return post(books, "payouts", body, f"{body['matchId']}:{body['seatId']}")


def check(books: SettlementProcess) -> tuple[int, Any]:
    done = subprocess.run(
        [sys.executable, "scripts/settlement_server.py", "--check", "--data", str(books.folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    return done.returncode, json.loads(done.stdout)


def test_a_key_is_charged_once_and_outlives_a_kill(books: SettlementProcess) -> None:
    assert charge(books) == (200, {"status": "confirmed"})
    books.end()
    books.start()
    assert charge(books) == (200, {"status": "confirmed"})
    assert books.call("GET", "/charges/sea_1") == {"status": "confirmed"}
    code, report = check(books)
    assert (code, report["sound"], report["repeatedCharges"]) == (0, True, 1)
    assert report["totals"][0]["chargedUsdCents"] == 100


def test_the_same_key_with_other_values_is_refused_and_reported(books: SettlementProcess) -> None:
    charge(books)
    assert charge(books, amountUsdCents=101)[0] == 409
    code, report = check(books)
    assert (code, report["refused"]) == (1, ["sea_1: the same key with other values"])


@pytest.mark.parametrize(
    "changes",
    [
        {"seatId": "sea_2"},
        {"playerId": "bob"},
        {"amountUsdCents": 99},
    ],
)
def test_a_payout_that_no_charge_backs_is_refused(
    changes: dict[str, Any], books: SettlementProcess
) -> None:
    charge(books)
    assert pay(books, **changes)[0] == 409
    assert not books.call("GET", "/ledger")["sound"]


def test_a_match_pays_one_prize_or_refunds_and_a_seat_is_paid_once(
    books: SettlementProcess,
) -> None:
    for seat in ("sea_1", "sea_2", "sea_3"):
        charge(books, seatId=seat)
    assert pay(books) == pay(books, seatId="sea_2") == (200, {"status": "confirmed"})
    assert pay(books, seatId="sea_3", kind="prize")[0] == 409
    assert pay(books, matchId="mat_2")[0] == 409


def test_a_pending_charge_is_decided_after_its_time(books: SettlementProcess) -> None:
    books.call("PUT", "/faults", ["pending=1:3600"])
    assert charge(books) == (200, {"status": "pending"})
    assert books.call("GET", "/charges/sea_1") == {"status": "pending"}


@pytest.mark.parametrize(("fault", "acted"), [("cut-before=1", 0), ("cut-after=1", 1)])
def test_a_cut_comes_before_or_after_the_charge(
    fault: str, acted: int, books: SettlementProcess
) -> None:
    books.call("PUT", "/faults", [fault])
    with pytest.raises(httpcore.RemoteProtocolError):
        charge(books)
    assert len(books.call("GET", "/ledger")["totals"]) == acted


def test_an_answer_comes_twice_on_demand(books: SettlementProcess) -> None:
    books.call("PUT", "/faults", ["twice=1"])
    token = books.token_file.read_text().strip()
    with socket.create_connection(("127.0.0.1", books.port), timeout=PATIENCE_S) as sock:
        sock.sendall(
            f"GET /charges/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        )
        received = b""
        while chunk := sock.recv(65536):
            received += chunk
    assert received.count(b"HTTP/1.1 404") == 2


def test_every_fault_is_named_with_its_share() -> None:
    assert set(parse([f"{name}=0.5" for name in KINDS])) == set(KINDS)
    assert parse(["slow=1:0.2"])["slow"].seconds == 0.2
    for text in ("slow", "slow=2", "slow=-1", "nope=1", "slow=0.1:x"):
        with pytest.raises(BadFault):
            parse([text])


def test_nobody_is_served_without_the_token(books: SettlementProcess) -> None:
    response = httpcore.request("GET", f"{books.url}/ledger")
    assert response.status == 401
