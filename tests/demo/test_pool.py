"""The connection pool of the demo: a cancelled call leaves nothing behind."""

import gc

import httpcore
import pytest
import trio

from pgs.demo.pool import ConnectionPool
from tests.stalled import StalledNetwork, StalledStream


async def _post(pool: httpcore.AsyncConnectionPool) -> None:
    await pool.request("POST", "http://127.0.0.1/", content=b"body")


@pytest.mark.filterwarnings("error")
async def test_a_call_cancelled_while_it_sends_its_body_leaves_no_generator_behind() -> None:
    at_body = trio.Event()
    async with ConnectionPool(network_backend=StalledNetwork(StalledStream(at_body))) as pool:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_post, pool)
            await at_body.wait()
            nursery.cancel_scope.cancel()
        gc.collect()
