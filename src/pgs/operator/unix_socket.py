"""The operator's Unix socket in the data folder: one request a line, one answer a line.

Anyone who can open the socket's file has the rights of an operator.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import structlog
import trio

from pgs.actors.core import Core
from pgs.operator.execute import execute
from pgs.operator.messages import (
    MAX_REQUEST_BYTES,
    Answer,
    Failed,
    decode_answer,
    encode_answer,
    encode_request,
)
from pgs.storage.data_folder import SOCKET_NAME

MAX_ANSWER_BYTES = 1 << 24
"""Bytes of one answer to an operator. The longest page of partners takes less than a quarter."""

MAX_CONNECTIONS = 16
"""Connections of operators at the same time. Operators are few, and each connection costs a task
and a request's memory."""

BACKLOG = 16
"""Connections that the kernel holds until they are accepted: as many as may be open."""

LINE_S = 30.0
"""Seconds that a connection may take for one request, including the wait for its first byte."""

SEND_S = 10.0
"""Seconds that an operator's command may take to read its answer. A command reads without a pause
unless it hangs."""

ANSWER_S = 600.0
"""Seconds that a command may take. A command that ends very many matches, or reads a very large
database, takes minutes."""

CHUNK = 1 << 16
"""Bytes that one read takes from the socket: most requests and answers fit into one read."""

log = structlog.get_logger("pgs.operator")


class NotRunning(Exception):
    """No service answers at this data folder's socket."""


class ConnectionLost(Exception):
    """The service ended the connection or did not answer in time. What it has done is unknown."""


class SocketObstructed(Exception):
    """There is a folder at the path of the operator's socket."""


class LineTooLong(Exception):
    """A line is longer than its limit."""


async def serve_operator(
    core: Core, folder: Path, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Answer operators until cancelled; `task_status` reports when the socket listens.

    The caller must hold the data folder's lock. So a file that already has the socket's name can
    only come from a dead process. It is replaced.
    """
    listener = trio.SocketListener(trio.socket.from_stdlib_socket(listen(folder)))
    try:
        task_status.started()
        await trio.serve_listeners(_OperatorServer(core).serve, [listener])
    finally:
        _remove_socket(folder)


async def call_operator(folder: Path, command: str, args: object) -> Answer:
    """Return the running service's answer to a command.

    Raises:
    - `BadCall`: the request cannot be encoded;
    - `NotRunning`: no service listens in this folder, and nothing was done;
    - `ConnectionLost`: the request was sent and no answer came;
    - PermissionError: the folder belongs to another user.
    """
    request = encode_request(command, args)
    stream = await connect(folder)
    async with stream:
        try:
            with trio.fail_after(ANSWER_S):
                # A service with too many connections answers and closes without reading.
                with suppress(trio.BrokenResourceError):
                    await stream.send_all(request)
                line = await read_line(stream, bytearray(), MAX_ANSWER_BYTES)
            if line is None:
                raise ConnectionLost("the service closed the connection")
            return decode_answer(line)
        except (trio.BrokenResourceError, trio.TooSlowError, LineTooLong, ValueError) as error:
            raise ConnectionLost(str(error) or type(error).__name__) from error


def is_running(folder: Path) -> bool:
    """Return whether a service listens at this data folder's socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.setblocking(False)
        try:
            with _short_path(folder) as path:
                sock.connect(path)
        except BlockingIOError:  # a service listens, and its backlog is full
            return True
        except OSError:
            return False
        return True


async def read_line(stream: trio.abc.ReceiveStream, buffer: bytearray, limit: int) -> bytes | None:
    """Return the next line without its line feed, or None when the stream has ended.

    Bytes after the line stay in `buffer` for the next call. Raises `LineTooLong`, and
    `ConnectionLost` when the stream ends within a line.
    """
    seen = 0
    while (end := buffer.find(b"\n", seen)) < 0:
        if len(buffer) >= limit:
            raise LineTooLong(f"a line of over {limit} bytes")
        seen = len(buffer)
        chunk = await stream.receive_some(CHUNK)
        if not chunk:
            if buffer:
                raise ConnectionLost("the connection ended within a line")
            return None
        buffer += chunk
    line = bytes(buffer[:end])
    del buffer[: end + 1]
    return line


class _OperatorServer:
    """Serves the connections of operators, and counts the open ones."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._open = 0

    async def serve(self, stream: trio.SocketStream) -> None:
        """Answer one connection's requests in order. An error ends this connection only."""
        self._open += 1
        try:
            if self._open > MAX_CONNECTIONS:
                await _send(
                    stream, Failed("Too many operators are connected. Nothing was done: try again.")
                )
            else:
                await self._answer_requests(stream)
        except (
            trio.BrokenResourceError,
            trio.ClosedResourceError,
            trio.TooSlowError,
            ConnectionLost,
        ):
            # The operator has gone or was too slow. Every command that was read is carried out.
            pass
        except Exception:
            log.exception("operator_connection_crashed")
            self._core.parts.on_event("operator_connection_crashed")
        finally:
            self._open -= 1

    async def _answer_requests(self, stream: trio.SocketStream) -> None:
        buffer = bytearray()
        while True:
            try:
                with trio.fail_after(LINE_S):
                    line = await read_line(stream, buffer, MAX_REQUEST_BYTES)
            except LineTooLong as error:
                await _send(
                    stream, Failed(f"The service does not understand this request: {error}.")
                )
                return
            if line is None:
                return
            await _send(stream, await execute(self._core, line))


async def _send(stream: trio.SocketStream, answer: Answer) -> None:
    with trio.fail_after(SEND_S):
        await stream.send_all(encode_answer(answer))


async def connect(folder: Path) -> trio.SocketStream:
    """Return a connection to the service in this folder. Raises `NotRunning`, PermissionError."""
    try:
        with _short_path(folder) as path:
            return await trio.open_unix_socket(path)
    except PermissionError:
        raise
    except (OSError, RuntimeError) as error:
        raise NotRunning(str(folder)) from error


def listen(folder: Path) -> socket.socket:
    """Return a socket that listens under `SOCKET_NAME` in the folder.

    It is bound under a temporary name, restricted to its owner (mode 0600) and set to listen, and
    then renamed. Nobody can connect before it listens, so no other user can ever connect, whatever
    the umask. The rename replaces a socket that an earlier process left behind.
    """
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        new = SOCKET_NAME + ".new"
        for name in (SOCKET_NAME, new):
            if (folder / name).is_dir():
                raise SocketObstructed(str(folder / name))
        (folder / new).unlink(missing_ok=True)
        with _short_path(folder, new) as path:
            sock.bind(path)
        (folder / new).chmod(0o600)
        sock.listen(BACKLOG)
        sock.setblocking(False)
        (folder / new).replace(folder / SOCKET_NAME)
    except BaseException:
        sock.close()
        raise
    return sock


def _remove_socket(folder: Path) -> None:
    with suppress(OSError):
        (folder / SOCKET_NAME).unlink()


@contextmanager
def _short_path(folder: Path, name: str = SOCKET_NAME) -> Iterator[str]:
    """Yield a path for a socket in `folder`: on Linux a short one, however long the folder's is.

    A Unix socket's path has at most 107 bytes on Linux (unix(7)) and 103 on macOS. Without
    /proc/self/fd, as on macOS, the path begins with the folder's own and must keep to the limit.
    """
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        by_number = Path(f"/proc/self/fd/{fd}")
        yield str((by_number if by_number.is_dir() else folder) / name)
    finally:
        os.close(fd)
