"""Nodes come, go and lose sessions under load: no seat is lost, doubled or different."""

from pathlib import Path

import msgspec
import psycopg
import pytest
import trio

from pgs.storage.postgres.lease import number_of
from tests.journeys.installation import PARTNERS, OneNode, Seeded, node_in_process, settled
from tests.journeys.partners import seat_body
from tests.journeys.service import until

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

PAUSE_S = 0.05
"""Seconds after which a backend repeats a call that was refused, or whose outcome is unknown."""


class Backend:
    """A partner's backend: takes one seat after the other, and repeats what was not answered."""

    def __init__(self, partner_id: str, key: str, nodes: list[OneNode]) -> None:
        self.partner_id = partner_id
        self.seats: dict[str, str] = {}  # by player
        self.refused = 0
        self._key = key
        self._nodes = nodes

    async def run(self, done: trio.Event) -> None:
        """Take seats until `done` is set, at one node after the other."""
        while not done.is_set():
            number = len(self.seats)
            await self.take(f"p{number}", number)

    async def take(self, player: str, number: int) -> None:
        """Take a player's seat, or check that it is still the same one."""
        body = seat_body(player, player)
        while True:
            node = self._nodes[number % len(self._nodes)]
            answer = await node.call("/partner/matches", self._key, body)
            if answer.status == 200:
                seat_id = msgspec.json.decode(answer.content)["seatId"]
                assert self.seats.setdefault(player, seat_id) == seat_id
                return
            assert answer.status == 503, answer.content
            self.refused += 1
            await trio.sleep(PAUSE_S)


def end_session(url: str, node: str) -> None:
    """Let the server end a node's writing session, with whatever is under way."""
    with psycopg.connect(url, autocommit=True) as connection:
        ended = connection.execute(
            "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and "
            "classid = 2 and objid = %s",
            (number_of(node),),
        ).fetchall()
    assert ended == [(True,)]


async def test_no_seat_is_lost_or_doubled_while_nodes_come_and_go_and_sessions_end(
    tmp_path: Path, seeded: Seeded
) -> None:
    async with (
        node_in_process(seeded, tmp_path, "n1") as one,
        node_in_process(seeded, tmp_path, "n2") as two,
    ):
        await settled(one, two)
        backends = [Backend(name, seeded.partners[name].test, [one, two]) for name in PARTNERS[:6]]
        async with trio.open_nursery() as nursery:
            done = trio.Event()  # no cancellation, which would leave answers unread
            for backend in backends:
                nursery.start_soon(backend.run, done)
            for _ in range(3):
                async with node_in_process(seeded, tmp_path, "n3") as three:
                    await settled(one, two, three)
                    await trio.sleep(0.3)
                    end_session(seeded.url, "n1")
                    await settled(one, two, three)
                await settled(one, two)
            await until(lambda: all(len(backend.seats) > 20 for backend in backends))
            done.set()
        assert sum(backend.refused for backend in backends)
        for backend in backends:
            for number, player in enumerate(list(backend.seats)):
                await backend.take(player, number)
        with psycopg.connect(seeded.url) as connection:
            rows = connection.execute("select partner_id, player_id, seat_id from seat").fetchall()
        found = {(partner_id, player): seat_id for partner_id, player, seat_id in rows}
        assert len(found) == len(rows)
        for backend in backends:
            for player, seat_id in backend.seats.items():
                assert found[backend.partner_id, player] == seat_id
        faults = await trio.to_thread.run_sync(one.service.core.parts.database.all_faults)
        assert faults == []
