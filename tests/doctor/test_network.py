"""What `pgs doctor` says of listeners and of the services that the settings name."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from pgs.config import Config
from pgs.doctor import network
from pgs.doctor.finding import Finding
from pgs.http.outbound.fetch import BODY_MAX, JsonClient
from pgs.serve import running
from tests.http.identity import jwk, key_set
from tests.http.internet import client_context, read_request

FREE = {"listen": "127.0.0.1:0", "internal_listen": "127.0.0.1:0"}


def _config(folder: Path, **fields: object) -> Config:
    return Config(data_dir=folder, **(FREE | fields))  # type: ignore[arg-type]  # a test's own


def _client() -> JsonClient:
    return JsonClient(client_context())


@asynccontextmanager
async def _server(*answers: tuple[int, bytes]) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Run a server that gives these answers in turn; yield its address and the requests."""
    requests: list[bytes] = []
    left = list(answers)

    async def serve(stream: trio.SocketStream) -> None:
        requests.append(await read_request(stream))
        status, body = left.pop(0)
        head = b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n" % (status, len(body))
        await stream.send_all(head + body)
        await stream.aclose()

    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        yield f"http://127.0.0.1:{listener.socket.getsockname()[1]}", requests
        nursery.cancel_scope.cancel()


async def test_addresses_that_are_free_are_reported_and_released(tmp_path: Path) -> None:
    config = _config(tmp_path / "new")
    for _ in range(2):
        finding = await network.service(config)
        assert finding.status == "ok"
        assert "it does not run" in finding.found


@pytest.mark.parametrize("setting", ["listen", "internal_listen"])
async def test_an_address_that_is_taken_is_a_problem_that_names_its_setting(
    tmp_path: Path, setting: str
) -> None:
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener:
        taken = f"127.0.0.1:{listener.socket.getsockname()[1]}"
        finding = await network.service(_config(tmp_path, **{setting: taken}))
    assert finding.status == "problem"
    assert f"cannot listen on {taken}" in finding.found
    assert f"PGS_{setting.upper()}" in finding.next_step


async def test_a_running_service_is_asked_for_its_readiness(tmp_path: Path) -> None:
    async with running(_config(tmp_path)) as service:
        address = service.internal_url.removeprefix("http://")
        finding = await network.service(_config(tmp_path, internal_listen=address))
        assert finding == Finding("service", "ok", "it runs; ready")
        port = address.rpartition(":")[2]
        everywhere = _config(tmp_path, internal_listen=f"0.0.0.0:{port}")
        assert (await network.service(everywhere)).status == "ok"
        other = await network.service(_config(tmp_path, internal_listen="127.0.0.1:1"))
        assert other.status == "problem"
        assert "PGS_INTERNAL_LISTEN" in other.next_step
        far = await network.service(_config(tmp_path, internal_listen="10.0.0.1:8001"))
        assert far.status == "skipped"


async def test_a_running_service_that_is_not_ready_is_a_problem_and_its_notes_a_warning(
    tmp_path: Path,
) -> None:
    async with running(_config(tmp_path)):
        async with _server((503, b'{"status":"unable to write"}')) as (url, _):
            address = url.removeprefix("http://")
            finding = await network.service(_config(tmp_path, internal_listen=address))
        assert (finding.status, finding.found) == ("problem", "it runs; unable to write")
        async with _server((200, b'{"status":"ready","clock":"it went back"}')) as (url, _):
            address = url.removeprefix("http://")
            finding = await network.service(_config(tmp_path, internal_listen=address))
        assert (finding.status, finding.found) == ("warning", "it runs; ready; clock: it went back")


@pytest.mark.parametrize(
    ("base_url", "status"),
    [("", "warning"), ("http://127.0.0.1:8000", "warning"), ("https://games.example", "ok")],
)
def test_players_need_an_address_that_leads_here(
    tmp_path: Path, base_url: str, status: str
) -> None:
    assert network.base_url(_config(tmp_path, base_url=base_url)).status == status


async def test_the_issuers_keys_are_fetched_as_the_service_does(tmp_path: Path) -> None:
    keys = json.dumps(key_set(jwk("RS256"), jwk("ES256"))).encode()
    async with _server((200, keys)) as (url, _):
        config = _config(tmp_path, identity_issuer=url, identity_jwks_url=f"{url}/keys")
        finding = await network.identity_issuer(config, _client())
    assert (finding.status, finding.found) == ("ok", f"{url}: 2 keys")


async def test_an_issuer_that_is_missing_away_or_without_keys_is_reported(tmp_path: Path) -> None:
    client = _client()
    assert (await network.identity_issuer(_config(tmp_path), client)).status == "warning"
    away = _config(tmp_path, identity_issuer="http://127.0.0.1:1")
    assert (await network.identity_issuer(away, client)).status == "problem"
    async with _server((200, b'{"keys":[]}')) as (url, _):
        config = _config(tmp_path, identity_issuer=url, identity_jwks_url=f"{url}/keys")
        finding = await network.identity_issuer(config, client)
    assert finding.status == "problem"
    assert "no key" in finding.found


@pytest.mark.parametrize(
    ("answer", "status"),
    [(404, "ok"), (200, "ok"), (401, "problem"), (403, "problem"), (502, "problem")],
)
async def test_the_settlement_server_must_know_this_services_token(
    tmp_path: Path, answer: int, status: str
) -> None:
    token = tmp_path / "token"
    token.write_text("s3cret-token\n")
    async with _server((answer, b"{}")) as (url, requests):
        config = _config(tmp_path, settlement_url=url, settlement_token_file=token)
        finding = await network.settlement(config, _client())
    assert finding.status == status
    assert b"Bearer s3cret-token" in requests[0]
    assert "s3cret" not in repr(finding)


async def test_a_settlement_server_that_is_away_or_a_token_that_is_missing_is_a_problem(
    tmp_path: Path,
) -> None:
    token = tmp_path / "token"
    config = _config(tmp_path, settlement_url="http://127.0.0.1:1", settlement_token_file=token)
    assert "cannot be read" in (await network.settlement(config, _client())).found
    token.write_text("s3cret-token")
    assert (await network.settlement(config, _client())).status == "problem"
    assert (await network.settlement(_config(tmp_path), _client())).status == "skipped"


async def test_a_frame_from_elsewhere_must_answer_with_200(tmp_path: Path) -> None:
    assert (await network.frame(_config(tmp_path), _client())).status == "skipped"
    for status, verdict in ((200, "ok"), (404, "problem")):
        async with _server((status, b"<!doctype html>")) as (url, _):
            finding = await network.frame(_config(tmp_path, frame_url=url), _client())
        assert finding.status == verdict
    away = _config(tmp_path, frame_url="http://127.0.0.1:1")
    assert (await network.frame(away, _client())).status == "problem"


async def test_a_frame_from_elsewhere_that_the_service_would_not_read_is_a_problem(
    tmp_path: Path,
) -> None:
    document = b"<!doctype html>".ljust(BODY_MAX + 1)
    async with _server((200, document)) as (url, _):
        finding = await network.frame(_config(tmp_path, frame_url=url), _client())
    assert finding.status == "problem"


async def test_a_host_that_cannot_be_looked_up_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await network.look_up(_config(tmp_path))).status == "skipped"
    config = _config(tmp_path, base_url="https://games.example")

    async def known(*arguments: object, **named: object) -> list[object]:
        return []

    async def unknown(*arguments: object, **named: object) -> list[object]:
        raise OSError(-2, "Name or service not known")

    monkeypatch.setattr(trio.socket, "getaddrinfo", known)
    assert (await network.look_up(config)).status == "ok"
    monkeypatch.setattr(trio.socket, "getaddrinfo", unknown)
    finding = await network.look_up(config)
    assert finding.status == "problem"
    assert "games.example cannot be looked up" in finding.found


async def test_a_look_up_that_hangs_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, autojump_clock: trio.testing.MockClock
) -> None:
    async def hanging(*arguments: object, **named: object) -> list[object]:
        await trio.sleep_forever()
        raise AssertionError

    monkeypatch.setattr(trio.socket, "getaddrinfo", hanging)
    finding = await network.look_up(_config(tmp_path, base_url="https://games.example"))
    assert "no answer within 5 s" in finding.found
