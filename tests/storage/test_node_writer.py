"""The writer of a node does transactions and work on sessions in the order in which they came."""

from collections.abc import Sequence
from typing import cast

import trio
from outcome import Value

from pgs.storage.postgres.node_writer import NodeCommits, NodeWriter, SessionJob
from pgs.storage.transactions import Outcome, Tx
from pgs.storage.writer import Job
from tests.patience import PATIENCE_S


class Noted:
    """Commits nothing, and notes what came: the partner of a transaction, or "session job"."""

    damaged = False
    session = 1
    ended = None

    def __init__(self) -> None:
        self.came: list[str] = []

    def commit(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self.came.append("session job" if isinstance(job, SessionJob) else job.tx.partner_id)
            job.result = Value(Outcome.COMMITTED)

    def abandon(self) -> None: ...

    def close(self) -> None: ...


async def test_a_session_job_overtakes_no_transaction_of_the_same_turn() -> None:
    noted, submitted = Noted(), list[str]()
    writer = NodeWriter(cast("NodeCommits", noted))
    writer.start()

    async def write(partner: str) -> None:
        submitted.append(partner)
        await writer.submit(Tx(partner, ()))

    async def run_session_job() -> None:
        submitted.append("session job")
        await writer.run(None, lambda session: None)

    with trio.fail_after(PATIENCE_S):
        async with trio.open_nursery() as nursery:
            for number in range(20):
                nursery.start_soon(write, f"partner-{number}")
                nursery.start_soon(run_session_job)
        assert writer.close()
    assert noted.came == submitted
