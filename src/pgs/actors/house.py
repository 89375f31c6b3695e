"""A partner's house: its gate and its actors, opened on first use; and the directory of all houses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec
import trio

from pgs.actors.gate import PartnerGate, ProcessGate
from pgs.actors.kernel import IDLE_CLOSE_S, Actor, Cell, Ref, System, Watch
from pgs.actors.results import ResultsBells
from pgs.clock import Clock, Rng
from pgs.domain.environments import Environment
from pgs.domain.ids import ENTROPY_BYTES, new_id
from pgs.domain.keyring import KeyRing
from pgs.domain.versions import ServedVersions
from pgs.games.rules import Rules
from pgs.keyfile import KeyFile
from pgs.storage.database import Database

if TYPE_CHECKING:
    from pgs.actors.activity import Activity
    from pgs.actors.alarms import Alarms
    from pgs.actors.catalogue import Catalogue
    from pgs.actors.closing import Closings
    from pgs.actors.courier import NudgePort
    from pgs.actors.deadlines import Deadlines
    from pgs.actors.deliveries import Deliveries
    from pgs.actors.key_uses import KeyUses
    from pgs.actors.registry import Registry
    from pgs.actors.settlement import SettlementPort
    from pgs.actors.visitors import Visitors

SWEEP_S = 30.0  # how often houses are looked at; one that is idle is closed within IDLE_CLOSE_S and this


class Parts(msgspec.Struct, frozen=True):
    """What every actor is built from. Composed once, in `pgs.app`."""

    system: System
    database: Database
    clock: Clock
    rng: Rng
    keys: KeyFile
    registry: Registry
    catalogue: Catalogue
    bells: ResultsBells
    deadlines: Deadlines
    settlement: SettlementPort
    outbound: NudgePort
    deliveries: Deliveries
    closings: Closings
    activity: Activity
    key_uses: KeyUses
    process_gate: ProcessGate
    installed_games: frozenset[str]
    games: Mapping[str, Rules]
    visitors: Visitors
    alarms: Alarms
    make_table: Callable[[House, str, Cell], Actor]
    versions: ServedVersions
    on_event: Callable[[str], None]

    @property
    def ring(self) -> KeyRing:
        """The keys that sign and seal, the newest first."""
        return self.keys.ring

    def new_id(self, prefix: str) -> str:
        """Return a new random id."""
        return new_id(prefix, self.rng.bytes(ENTROPY_BYTES))


Make = Callable[["House"], Actor]


class House:
    """One partner's actors. Ask for a `Ref` anew each time: an idle house is closed, and opened again on its next use."""

    def __init__(self, partner_id: str, parts: Parts, makers: dict[str, Make]) -> None:
        self.partner_id = partner_id
        self.parts = parts
        self.watch = Watch()
        self.gate = PartnerGate(parts.process_gate)
        self.embed_gate = PartnerGate(parts.process_gate)  # of the frame's documents
        self._makers = makers
        self._cells: dict[str, Cell] = {}
        self._tables: dict[str, Cell] = {}  # by match
        self._used_at = trio.current_time()

    def account(self) -> Ref:
        """Return the account actor."""
        return self._ref("account")

    def seats(self, environment: Environment) -> Ref:
        """Return the actor of the seats of an environment."""
        return self._ref(f"seats.{environment}")

    def courier(self, environment: Environment) -> Ref:
        """Return the actor of the webhook endpoint of an environment."""
        return self._ref(f"courier.{environment}")

    def settlement(self) -> Ref:
        """Return the actor of charges and payouts."""
        return self._ref("settlement")

    def table(self, match_id: str) -> Ref:
        """Return the table of a match, opened if need be."""
        self._used_at = trio.current_time()
        cell = self._tables.get(match_id)
        if cell is None:
            name, make = f"{self.partner_id}/table.{match_id}", self.parts.make_table
            cell = self._tables[match_id] = Cell(name, self.parts.system, self.watch, lambda cell: make(self, match_id, cell))
        return cell.ref

    def open_table(self, match_id: str) -> Ref | None:
        """Return the table of a match that has been opened of late."""
        return self.table(match_id) if match_id in self._tables else None

    def count_tables(self) -> int:
        """Return how many tables are open: those whose actors have a running task."""
        alive = self.parts.system.cells
        return sum(cell in alive for cell in self._tables.values())

    def clear_tables(self) -> None:
        """Forget the tables whose actors have ended."""
        alive = self.parts.system.cells
        for match_id, cell in list(self._tables.items()):
            if cell not in alive:
                cell.retired = True
                del self._tables[match_id]

    def _ref(self, role: str) -> Ref:
        self._used_at = trio.current_time()
        cell = self._cells.get(role)
        if cell is None:
            make = self._makers[role]
            cell = self._cells[role] = Cell(f"{self.partner_id}/{role}", self.parts.system, self.watch, lambda _: make(self))
        return cell.ref

    def is_idle(self, now: float) -> bool:
        """Return whether nothing would be lost by closing the house: no actor alive, the buckets full, no rest to sit out."""
        alive = self.parts.system.cells
        return (
            now - self._used_at >= IDLE_CLOSE_S
            and self.gate.is_full(now)
            and self.embed_gate.is_full(now)
            and not self.watch.degraded(now)
            and not any(cell in alive for cell in (*self._cells.values(), *self._tables.values()))
        )

    def close(self) -> None:
        """Retire every address that was given out."""
        for cell in (*self._cells.values(), *self._tables.values()):
            cell.retired = True


class Directory:
    """Every open house by its partner's id. Whether a partner is ours is not asked yet: on one node the answer is yes."""

    def __init__(self, parts: Parts, makers: dict[str, Make]) -> None:
        self._parts = parts
        self._makers = makers
        self._houses: dict[str, House] = {}

    def house(self, partner_id: str) -> House:
        """Return a partner's house, opened if need be."""
        house = self._houses.get(partner_id)
        if house is None:
            house = self._houses[partner_id] = House(partner_id, self._parts, self._makers)
        return house

    def __len__(self) -> int:
        return len(self._houses)

    def count_tables(self) -> int:
        """Return how many tables are open, of all partners."""
        return sum(house.count_tables() for house in self._houses.values())

    async def sweep(self) -> None:
        """Close idle houses, for ever."""
        while True:
            await trio.sleep(SWEEP_S)
            now = trio.current_time()
            for partner_id, house in list(self._houses.items()):
                house.clear_tables()
                if house.is_idle(now):
                    house.close()
                    del self._houses[partner_id]
