"""How a service starts and stops, as seen through its listeners."""

import gc
import json
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs

import pgs.app
import pgs.process
import pgs.public
import pgs.serve
from pgs.actors.core import Core
from pgs.http.api.services import Services
from pgs.http.transport.accepted_socket import AcceptedSocket
from pgs.http.transport.asgi import Receive, Scope, Send
from pgs.http.transport.sockets import OpenSockets, serve_socket
from pgs.keyfile import BadKeyFile
from pgs.serve import running
from pgs.storage.data_folder import DataFolderInUse
from pgs.storage.database import Database
from pgs.storage.engines import open_database
from tests.http.raw import HANDSHAKE, Client
from tests.http.sockets import LIMITS, OFFER, PING, PROTOCOL, closed
from tests.journeys.client import InternalClient
from tests.journeys.service import config_for, in_process
from tests.patience import PATIENCE_S


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


async def _status(client: InternalClient, path: str) -> tuple[int, str]:
    status, content = await client.get(path)
    return status, json.loads(content)["status"]


async def _until_answered(client: InternalClient) -> None:
    with trio.fail_after(PATIENCE_S):
        while True:
            try:
                await client.get("/internal/healthz")
            except Exception:
                await trio.sleep(0.01)
            else:
                return


@asynccontextmanager
async def _starting(folder: Path) -> AsyncIterator[tuple[InternalClient, int, trio.Event]]:
    """Start a service in the background. Setting the event ends it once it is up."""
    internal, public, leave = _free_port(), _free_port(), trio.Event()

    async def serve() -> None:
        config = config_for(
            folder, listen=f"127.0.0.1:{public}", internal_listen=f"127.0.0.1:{internal}"
        )
        async with pgs.serve.running(config):
            await leave.wait()

    client = InternalClient(f"http://127.0.0.1:{internal}")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        try:
            await _until_answered(client)
            yield client, public, leave
        finally:
            leave.set()
            await client.aclose()


async def test_a_service_whose_database_takes_long_to_open_is_alive_and_says_that_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()

    def slow(*args: Any, **named: Any) -> Database:
        assert go_on.wait(PATIENCE_S)
        opened: Database = open_database(*args, **named)
        return opened

    monkeypatch.setattr(pgs.app, "open_database", slow)
    try:
        async with _starting(tmp_path) as (client, public, _):
            assert await _status(client, "/internal/healthz") == (200, "alive")
            assert await _status(client, "/internal/readyz") == (503, "starting")
            assert (await client.send("POST", "/internal/registry/refresh"))[0] == 503
            assert (await client.get("/internal/metrics"))[0] == 200
            # A call that arrives during the start waits for its answer and is not refused.
            async with Client(await trio.open_tcp_stream("127.0.0.1", public)) as caller:
                await caller.send(b"GET /partner/me HTTP/1.1\r\nHost: h\r\n\r\n")
                go_on.set()
                assert (await caller.answer()).status == 401
            assert await _status(client, "/internal/readyz") == (200, "ready")
            assert (await client.send("POST", "/internal/registry/refresh"))[0] == 200
    finally:
        go_on.set()


async def test_an_error_that_prevents_the_start_is_raised_unchanged(tmp_path: Path) -> None:
    async with in_process(tmp_path):
        with pytest.raises(DataFolderInUse):
            async with pgs.serve.running(config_for(tmp_path)):
                pass
    config_for(tmp_path).key_file.write_text("nonsense")
    with pytest.raises(BadKeyFile):
        async with pgs.serve.running(config_for(tmp_path)):
            pass


async def test_a_stop_tells_open_sockets_before_it_ends_their_connections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def idle(session: AcceptedSocket) -> None:
        await trio.sleep_forever()

    async def play(
        services: Services, sockets: OpenSockets, scope: Scope, receive: Receive, send: Send
    ) -> None:
        assert isinstance(services.parts, type(core.parts))
        await serve_socket(
            scope, receive, send, subprotocol=PROTOCOL, handler=idle, limits=LIMITS, sockets=sockets
        )

    core: Core
    monkeypatch.setattr(pgs.public, "WEBSOCKETS", {"/game/socket": play})
    async with in_process(tmp_path) as service:
        core = service.core
        port = int(service.public.base_url.rpartition(":")[2])
        caller = Client(await trio.open_tcp_stream("127.0.0.1", port))
        answer = await caller.ask(HANDSHAKE % b"/game/socket" + OFFER + b"\r\n")
        assert answer.status == 101
        assert "x-service-api-version" not in answer.headers
    async with caller:
        frame = await caller.frame()
        while frame[0] == PING:
            frame = await caller.frame()
        assert frame == closed(1001)


async def test_objects_that_stay_are_left_out_of_garbage_collection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    froze, young = list[int](), list[int]()
    monkeypatch.setattr(gc, "freeze", lambda: froze.append(len(gc.get_objects())))
    monkeypatch.setattr(gc, "set_threshold", young.append)
    async with in_process(tmp_path):
        assert froze == []  # services in a test's process leave its garbage collector alone
    pgs.process.tune_garbage_collector()
    assert froze
    assert young == [pgs.process.GC_AFTER]


@pytest.mark.parametrize(
    ("listen", "base_url", "warned"),
    [
        ("0.0.0.0:0", "", True),
        ("0.0.0.0:0", "https://games.example", False),
        ("127.0.0.1:0", "", False),
    ],
)
async def test_a_start_warns_of_a_listener_on_every_address_without_a_base_url(
    tmp_path: Path, listen: str, base_url: str, warned: bool
) -> None:
    with capture_logs() as lines:
        async with running(config_for(tmp_path, listen=listen, base_url=base_url)):
            pass
    warnings = [line["next_step"] for line in lines if line["event"] == "no_base_url"]
    assert len(warnings) == warned
    assert all("PGS_BASE_URL" in step for step in warnings)


@pytest.mark.parametrize(
    ("listen", "base_url", "known"),
    [
        ("127.0.0.1:0", "https://games.example", True),
        ("127.0.0.1:0", "", True),
        ("0.0.0.0:0", "", False),
    ],
)
async def test_the_link_of_an_invite_names_the_address_of_the_running_service_if_one_is_known(
    tmp_path: Path, listen: str, base_url: str, known: bool
) -> None:
    portal = {"identity_issuer": "http://127.0.0.1:1", "identity_client_id": "portal"}
    async with running(config_for(tmp_path, listen=listen, base_url=base_url, **portal)) as service:
        link = service.core.link_of_invite("ivt_1")
    assert link == (f"{base_url or service.listening}/portal/join/ivt_1" if known else None)
