"""The service as a process: what survives it, how it ends, and how it reports a failed start."""

import json
import signal
import socket
import threading
import time
from pathlib import Path

import pytest
import trio

from pgs.app import open_core
from pgs.config import Config
from tests.journeys.client import Reply, SyncClient, ok
from tests.journeys.partners import Partner, make_partner, make_tiers, seat_body
from tests.journeys.process import Process, free_port

STOP_S = 15.0  # seconds that a clean stop may take
LONG_POLLS = 32  # as many as a partner may hold


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The path of a data folder that does not exist yet."""
    return tmp_path / "data"


def _prepare(folder: Path, *names: str) -> list[Partner]:
    """Make partners in a data folder that no process uses."""

    folder.mkdir(mode=0o700)

    async def work() -> list[Partner]:
        async with open_core(Config(data_dir=folder)) as core:
            await make_tiers(core)
            return [await make_partner(core, name) for name in names]

    return trio.run(work)


def _seat(client: SyncClient, key: str, player_id: str, idempotency_key: str) -> Reply:
    return client.call("POST", "/partner/matches", key, seat_body(player_id, idempotency_key))


def _rows(client: SyncClient, key: str, cursor: str) -> list[str]:
    page = ok(client.call("GET", f"/partner/results?waitSeconds=5&cursor={cursor}", key))
    return [row["outcome"] for row in page["results"]]


@pytest.mark.parametrize(
    "how", [pytest.param(signal.SIGTERM, marks=pytest.mark.slow), signal.SIGKILL]
)
def test_seats_cursors_and_idempotency_keys_survive_the_end_of_the_process(
    folder: Path, how: signal.Signals
) -> None:
    (partner,) = _prepare(folder, "acme")
    with Process(folder) as process:
        cursor = ok(process.client.call("GET", "/partner/results", partner.test))["nextCursor"]
        waiting = ok(_seat(process.client, partner.test, "alice", "a"))
        live = ok(_seat(process.client, partner.live, "alice", "a"))
        code, _ = process.stop(how)
        assert code == (0 if how == signal.SIGTERM else -how)
        process.start()
        again = _seat(process.client, partner.test, "alice", "a")
        assert ok(again) == waiting
        assert again.header("idempotent-replayed") == "true"
        assert (
            ok(process.client.call("GET", f"/partner/seats/{live['seatId']}", partner.live))[
                "status"
            ]
            == "waiting"
        )
        assert (
            ok(process.client.call("GET", f"/partner/results?cursor={cursor}", partner.test))[
                "results"
            ]
            == []
        )
        matched = ok(_seat(process.client, partner.test, "bob", "b"))
        assert matched["status"] == "matched"
        assert (
            ok(_seat(process.client, partner.test, "alice", "a"))["matchId"] == matched["matchId"]
        )
        assert _rows(process.client, partner.test, cursor) == ["started", "started"]
        assert process.stop()[0] == 0


@pytest.mark.slow  # settlement is asked again 5 s after the end of the match
def test_a_match_decided_just_before_a_kill_is_paid_after_it(folder: Path) -> None:
    (partner,) = _prepare(folder, "acme")
    with Process(folder) as process:
        ok(_seat(process.client, partner.test, "alice", "a"))
        match_id = ok(_seat(process.client, partner.test, "bob", "b"))["matchId"]
        path = f"/partner/test/matches/{match_id}/decide"
        ok(
            process.client.call(
                "POST", path, partner.test, {"outcome": "ended", "winnerPlayerId": "bob"}
            )
        )
        process.stop(signal.SIGKILL)
        process.start()
        cursor = ""
        money: dict[str, int] = {}
        while len(money) < 2:
            page = ok(
                process.client.call("GET", f"/partner/results?waitSeconds=20{cursor}", partner.test)
            )
            assert page["results"], "the match was not paid out"
            cursor = f"&cursor={page['nextCursor']}"
            money |= {
                row["playerId"]: row["payoutUsdCents"]
                for row in page["results"]
                if "payoutUsdCents" in row
            }
        assert money == {"alice": 0, "bob": 180}


@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGTERM, marks=pytest.mark.slow), signal.SIGINT]
)
def test_a_signal_ends_the_process_cleanly_while_long_polls_are_open(
    folder: Path, number: signal.Signals
) -> None:
    (partner,) = _prepare(folder, "acme")
    answers: list[Reply] = []
    stopping = threading.Event()

    def poll(base_url: str) -> None:
        client = SyncClient(base_url)
        try:
            # The check below may take the last place for a moment. This poll is then answered at
            # once, and asks again.
            while True:
                answer = client.call("GET", "/partner/results?waitSeconds=25", partner.test)
                if stopping.is_set():
                    answers.append(answer)
                    return
        finally:
            client.close()

    with Process(folder) as process:
        threads = [
            threading.Thread(target=poll, args=[process.base_url]) for _ in range(LONG_POLLS)
        ]
        for thread in threads:
            thread.start()
        _until_all_are_held(process.client, partner)
        stopping.set()
        code, seconds = process.stop(number)
        for thread in threads:
            thread.join()
        assert (code, len(answers)) == (0, LONG_POLLS)
        assert seconds < STOP_S
        assert process.said == ""
        assert [ok(answer)["results"] for answer in answers] == [[]] * LONG_POLLS


def _until_all_are_held(client: SyncClient, partner: Partner) -> None:
    """Return once the partner has as many long polls as it may: a further one is not held."""
    for _ in range(30):
        begin = time.monotonic()
        ok(client.call("GET", "/partner/results?waitSeconds=1", partner.test))
        if time.monotonic() - begin < 1:
            return
    raise AssertionError("the polls do not arrive")


def test_the_log_names_each_request_by_its_id_and_holds_no_key(folder: Path) -> None:
    (partner,) = _prepare(folder, "acme")
    with Process(folder) as process:
        replies = [
            process.client.call("GET", "/partner/me", partner.test),
            process.client.call("GET", "/partner/me", partner.test[:-1]),
            process.client.call("GET", "/partner/nothing"),
            _seat(process.client, partner.test, "alice", "a"),
            process.client.call(
                "POST",
                "/partner/sessions",
                partner.live,
                {"gameId": "tic-tac-toe", "playerId": "alice"},
            ),
        ]
        token = replies[-1].json["sessionToken"]
        assert process.stop()[0] == 0
    lines = [json.loads(line) for line in process.log.read_text().splitlines()]
    logged = {
        line.get("request_id"): line["status"] for line in lines if line["event"] == "request"
    }
    assert {
        reply.header("x-request-id"): reply.status for reply in replies
    }.items() <= logged.items()
    text = process.log.read_text()
    for secret in (partner.test, partner.live, partner.test[:-1], token):
        assert secret not in text


def test_a_second_process_on_the_same_folder_is_refused_and_disturbs_nothing(folder: Path) -> None:
    (partner,) = _prepare(folder, "acme")
    with Process(folder) as process:
        second = Process(folder)
        second.log = folder.with_suffix(".second")
        second.launch()
        assert second.wait() == 1
        message = second.log.read_text()
        assert "Traceback" not in message
        assert str(folder) in message
        assert second.said == ""
        ok(process.client.call("GET", "/partner/me", partner.test))


@pytest.mark.parametrize("which", ["port", "internal_port"])
def test_a_port_in_use_is_reported_in_a_sentence(folder: Path, which: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = Process(folder, **{which: port})
        process.launch()
        assert process.wait() == 1
    message = process.log.read_text()
    assert "Traceback" not in message
    assert str(port) in message
    assert process.said == ""


def test_impossible_settings_are_reported_in_a_sentence(folder: Path) -> None:
    process = Process(folder, PGS_RESTRICT_ENVIRONMENT="staging")
    process.launch()
    assert process.wait() in (1, 2)
    message = process.log.read_text()
    assert "Traceback" not in message
    assert "PGS_RESTRICT_ENVIRONMENT" in message
    assert not folder.exists()


def test_the_environment_restricts_the_process(folder: Path) -> None:
    (partner,) = _prepare(folder, "acme")
    with Process(folder, port=free_port(), PGS_RESTRICT_ENVIRONMENT="test") as process:
        assert (
            process.client.call("GET", "/partner/me", partner.live).reason
            == "live_key_against_test"
        )
        ok(process.client.call("GET", "/partner/me", partner.test))
