"""The operator's socket: who may connect, how bad requests are answered, and what it survives."""

import os
import socket
import stat
from pathlib import Path

import pytest

from pgs.operator import unix_socket
from pgs.operator.command import NoArgs
from pgs.operator.messages import (
    Done,
)
from pgs.operator.unix_socket import (
    NotRunning,
    call_operator,
    connect,
    is_running,
    read_line,
)
from pgs.storage.data_folder import SOCKET_NAME, DataFolderInUse
from tests.operator.support import serving
from tests.operator.talking import LIST_TIERS, still_serves

NO_TIERS = b'{"result":{"tiers":[]}}'


async def test_a_request_is_one_line_and_its_answer_is_one_line(tmp_path: Path) -> None:
    async with serving(tmp_path), await connect(tmp_path) as stream:
        await stream.send_all(LIST_TIERS)
        assert await stream.receive_some() == NO_TIERS + b"\n"


async def test_requests_on_one_connection_are_answered_in_their_order(tmp_path: Path) -> None:
    async with serving(tmp_path), await connect(tmp_path) as stream:
        await stream.send_all(LIST_TIERS + b"nonsense\n" + LIST_TIERS[:10])
        buffer = bytearray()
        assert await read_line(stream, buffer, 1000) == NO_TIERS
        assert b"failure" in (await read_line(stream, buffer, 1000) or b"")
        await stream.send_all(LIST_TIERS[10:])
        assert await read_line(stream, buffer, 1000) == NO_TIERS


async def test_only_the_owner_can_open_the_socket_whatever_the_umask(tmp_path: Path) -> None:
    was = os.umask(0)
    try:
        async with serving(tmp_path):
            assert stat.S_IMODE((tmp_path / SOCKET_NAME).stat().st_mode) == 0o600
            assert not (tmp_path / (SOCKET_NAME + ".new")).exists()
    finally:
        os.umask(was)


def test_nobody_can_connect_before_the_socket_has_its_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes = []

    def listening(self: socket.socket, backlog: int) -> None:
        modes.append([stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()])

    monkeypatch.setattr(socket.socket, "listen", listening)
    unix_socket.listen(tmp_path).close()
    assert modes == [[0o600]]


async def test_a_folder_under_a_long_path_is_served_and_reached(tmp_path: Path) -> None:
    folder = tmp_path / ("a" * 100) / ("b" * 100)
    assert len(str(folder / SOCKET_NAME)) > 107
    async with serving(folder):
        assert is_running(folder)
        assert isinstance(await call_operator(folder, "tier.list", NoArgs()), Done)
    assert not is_running(folder)


async def test_the_socket_of_a_dead_process_is_replaced(tmp_path: Path) -> None:
    async with serving(tmp_path):
        pass
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / SOCKET_NAME))
    (tmp_path / (SOCKET_NAME + ".new")).write_text("left by a start that was killed")
    assert not is_running(tmp_path)
    with pytest.raises(NotRunning):
        await call_operator(tmp_path, "tier.list", NoArgs())
    async with serving(tmp_path):
        assert is_running(tmp_path)
        assert await still_serves(tmp_path)


async def test_a_second_service_on_the_folder_does_not_replace_the_socket(tmp_path: Path) -> None:
    async with serving(tmp_path):
        with pytest.raises(DataFolderInUse):
            async with serving(tmp_path):
                raise AssertionError("two services on one folder")
        assert await still_serves(tmp_path)


async def test_a_service_that_ends_leaves_no_socket_behind(tmp_path: Path) -> None:
    async with serving(tmp_path):
        assert (tmp_path / SOCKET_NAME).exists()
    assert not (tmp_path / SOCKET_NAME).exists()
    assert not is_running(tmp_path)
    assert not is_running(tmp_path / "nowhere")
