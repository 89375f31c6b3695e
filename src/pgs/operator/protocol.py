"""The operator's Unix socket in the data folder: one request a line, one answer a line. Whoever may open its file is the operator."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import structlog
import trio

from pgs.actors.core import Core
from pgs.operator.answers import (
    MAX_REQUEST_BYTES,
    Answer,
    Failed,
    decode_answer,
    encode_answer,
    encode_request,
)
from pgs.operator.execute import execute

SOCKET_NAME = "operator.sock"

MAX_ANSWER_BYTES = 1 << 24
"""Bytes of one answer to an operator. The longest page of partners is a third of it."""

MAX_CONNECTIONS = 16
"""Connections of operators at once. Operators are few, and each connection costs a task and a
request's memory."""

BACKLOG = 16
"""Connections that the kernel holds until they are accepted: as many as may be open."""

LINE_S = 30.0
"""Seconds that a connection may take for one request, including the wait for its first byte."""

SEND_S = 10.0
"""Seconds that an operator's command may take to read its answer. It reads at once unless it
hangs."""

ANSWER_S = 600.0
"""Seconds that a command may take. One that ends very many matches, or reads a very large database,
takes minutes."""

CHUNK = 1 << 16
"""Bytes that one read takes from the socket: most requests and answers fit into one."""

log = structlog.get_logger("pgs.operator")


class NotRunning(Exception):
    """No service answers at this data folder's socket."""


class ConnectionLost(Exception):
    """The service went away, or said nothing in time, before it had answered; what it did is unknown."""


class SocketObstructed(Exception):
    """A folder lies where the operator's socket belongs."""


class LineTooLong(Exception):
    """A line goes on beyond its limit."""


async def serve_operator(
    core: Core, folder: Path, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Answer operators until cancelled; `task_status` says when they can come.

    Only for whoever holds the data folder's lock: what lies there under the socket's name is a dead process's, and is replaced.
    """
    listener = trio.SocketListener(trio.socket.from_stdlib_socket(_listen(folder)))
    try:
        task_status.started()
        await trio.serve_listeners(_Desk(core).meet, [listener])
    finally:
        _withdraw(folder)


async def call_operator(folder: Path, command: str, args: object) -> Answer:
    """Return the running service's answer to a command.

    Raises `BadCall` when there is no such request, `NotRunning` when no service answers here (nothing was done), `ConnectionLost` when it
    took the request and never answered, and PermissionError when the folder is somebody else's.
    """
    request = encode_request(command, args)
    stream = await _connect(folder)
    async with stream:
        try:
            with trio.fail_after(ANSWER_S):
                with suppress(
                    trio.BrokenResourceError
                ):  # a service that has no room answers without reading, and closes
                    await stream.send_all(request)
                line = await read_line(stream, bytearray(), MAX_ANSWER_BYTES)
            if line is None:
                raise ConnectionLost("the service closed the connection")
            return decode_answer(line)
        except (trio.BrokenResourceError, trio.TooSlowError, LineTooLong, ValueError) as error:
            raise ConnectionLost(str(error) or type(error).__name__) from error


def running(folder: Path) -> bool:
    """Return whether a service listens at this data folder's socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.setblocking(False)
        try:
            with _short(folder) as path:
                sock.connect(path)
        except BlockingIOError:  # somebody listens, and is busy
            return True
        except OSError:
            return False
        return True


async def read_line(stream: trio.abc.ReceiveStream, buffer: bytearray, limit: int) -> bytes | None:
    """Return the next line without its line feed, None at the end; what came after it stays in `buffer` for the next call.

    Raises `LineTooLong`, and ConnectionLost where the stream ends within a line.
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


class _Desk:
    """Meets every operator who connects."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._open = 0

    async def meet(self, stream: trio.SocketStream) -> None:
        """Answer one connection's requests, one after the other. Whatever it does ends this connection alone."""
        self._open += 1
        try:
            if self._open > MAX_CONNECTIONS:
                await _send(
                    stream, Failed("Too many operators are connected. Nothing was done: try again.")
                )
            else:
                await self._converse(stream)
        except (
            trio.BrokenResourceError,
            trio.ClosedResourceError,
            trio.TooSlowError,
            ConnectionLost,
        ):
            pass  # gone; what it had asked for was carried through
        except Exception:
            log.exception("operator_connection_crashed")
        finally:
            self._open -= 1

    async def _converse(self, stream: trio.SocketStream) -> None:
        buffer = bytearray()
        while True:
            try:
                with trio.fail_after(LINE_S):
                    line = await read_line(stream, buffer, MAX_REQUEST_BYTES)
            except LineTooLong as error:
                await _send(
                    stream, Failed(f"This is no request that the service understands: {error}.")
                )
                return
            if line is None:
                return
            await _send(stream, await execute(self._core, line))


async def _send(stream: trio.SocketStream, answer: Answer) -> None:
    with trio.fail_after(SEND_S):
        await stream.send_all(encode_answer(answer))


async def _connect(folder: Path) -> trio.SocketStream:
    try:
        with _short(folder) as path:
            return await trio.open_unix_socket(path)
    except PermissionError:
        raise
    except (OSError, RuntimeError) as error:
        raise NotRunning(str(folder)) from error


def _listen(folder: Path) -> socket.socket:
    """Return a socket that listens under its name in the folder.

    It is bound under another name, made its owner's alone, set to listen, and only then given its name: until it listens nobody can
    connect, so nobody else ever could, whatever the umask. Taking the name replaces what a dead process left there.
    """
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        new = SOCKET_NAME + ".new"
        for name in (SOCKET_NAME, new):
            if (folder / name).is_dir():
                raise SocketObstructed(str(folder / name))
        (folder / new).unlink(missing_ok=True)
        with _short(folder, new) as path:
            sock.bind(path)
        (folder / new).chmod(0o600)
        sock.listen(BACKLOG)
        sock.setblocking(False)
        (folder / new).replace(folder / SOCKET_NAME)
    except BaseException:
        sock.close()
        raise
    return sock


def _withdraw(folder: Path) -> None:
    with suppress(OSError):
        (folder / SOCKET_NAME).unlink()


@contextmanager
def _short(folder: Path, name: str = SOCKET_NAME) -> Iterator[str]:
    """Give a name for a socket in `folder` that is short however long the folder's path is: a socket's name ends at 107 bytes.

    Where the system shows no open files by number, it is the plain path, with that limit.
    """
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        by_number = Path(f"/proc/self/fd/{fd}")
        yield str((by_number if by_number.is_dir() else folder) / name)
    finally:
        os.close(fd)
