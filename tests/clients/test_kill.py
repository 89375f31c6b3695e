"""The JavaScript client takes its seats through kills of the service, and each is charged once."""

import subprocess
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
import trio

from tests.beside import open_beside
from tests.clients.node import ENVIRONMENT, JS, built
from tests.torture.server import Server

ORDERS = 120
KILL_AFTER = (10, 40, 70, 130, 180)
"""How many seats the program has printed when the service is killed. From the 121st on, each is a
repetition of an earlier call."""


@pytest.mark.torture
async def test_every_order_is_one_seat_and_one_charge_whatever_is_killed(tmp_path: Path) -> None:
    server = Server(tmp_path)
    (keys,) = server.seed(1)
    server.widen(keys["partnerId"], 10_000)
    await built()
    command = ["node", str(JS / "tests" / "orders.mjs")]
    with server, trio.fail_after(240):
        command += [server.base_url, keys["testKey"], str(ORDERS)]
        async with trio.open_nursery() as nursery:
            process: trio.Process = await nursery.start(
                partial(trio.run_process, command, env=ENVIRONMENT, stdout=subprocess.PIPE)
            )
            assert process.stdout is not None
            told, due = b"", list(KILL_AFTER)
            async for chunk in process.stdout:
                told += chunk
                if due and told.count(b"\n") >= due[0]:
                    due.pop(0)
                    await trio.to_thread.run_sync(server.end)
                    await trio.to_thread.run_sync(server.start)
        assert told.endswith(b"arrived\n")
        assert due == []
        server.stop()
    with closing(open_beside(server.folder / "pgs.db")) as database:
        assert database.execute("select count(*) from seat").fetchone() == (ORDERS,)
        assert database.execute(
            "select count(*), count(distinct seat_id) from ledger where kind = 'charge'"
        ).fetchone() == (ORDERS, ORDERS)
