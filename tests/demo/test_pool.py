"""The connection pool of the demo: a cancelled call leaves nothing behind."""

import gc

import httpcore
import pytest
import trio

from pgs.demo.pool import ConnectionPool


class _Stalled(httpcore.AsyncNetworkStream):
    """A network stream that accepts the head of a request and never its body."""

    def __init__(self, at_body: trio.Event) -> None:
        self._at_body = at_body

    # `timeout` is part of httpcore's signature.
    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        if buffer.startswith(b"POST"):
            return
        self._at_body.set()
        await trio.sleep_forever()

    async def aclose(self) -> None:
        pass


class _Network(httpcore.AsyncNetworkBackend):
    def __init__(self, stream: _Stalled) -> None:
        self._stream = stream

    async def connect_tcp(self, *_: object, **__: object) -> httpcore.AsyncNetworkStream:
        return self._stream


async def _post(pool: httpcore.AsyncConnectionPool) -> None:
    await pool.request("POST", "http://127.0.0.1/", content=b"body")


@pytest.mark.filterwarnings("error")
async def test_a_call_cancelled_while_it_sends_its_body_leaves_no_generator_behind() -> None:
    at_body = trio.Event()
    async with ConnectionPool(network_backend=_Network(_Stalled(at_body))) as pool:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_post, pool)
            await at_body.wait()
            nursery.cancel_scope.cancel()
        gc.collect()
