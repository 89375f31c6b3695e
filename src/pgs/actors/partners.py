"""A partner's partner: its gate and its actors, opened on first use; and the directory of all houses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec
import trio

from pgs.actors.kernel.cells import IDLE_CLOSE_S, Cell, Ref, System
from pgs.actors.kernel.mail import Actor
from pgs.actors.kernel.restarts import Watch
from pgs.actors.shared.admission import PartnerAdmission, ProcessAdmission
from pgs.actors.shared.feed_bells import ResultsBells
from pgs.clock import Clock, Rng
from pgs.domain.environments import Environment
from pgs.domain.ids import ENTROPY_BYTES, new_id
from pgs.domain.keyring import KeyRing
from pgs.domain.versions import ServedVersions
from pgs.games.rules import Rules
from pgs.keyfile import KeyFile
from pgs.storage.database import Database

if TYPE_CHECKING:
    from pgs.actors.catalogue import Catalogue
    from pgs.actors.delivery.courier import NudgePort
    from pgs.actors.seating.closing import Closings
    from pgs.actors.seating.settlement import SettlementPort
    from pgs.actors.shared.activity import Activity
    from pgs.actors.shared.alarms import Alarms
    from pgs.actors.shared.deadlines import Deadlines
    from pgs.actors.shared.deliveries import Deliveries
    from pgs.actors.shared.key_uses import KeyUses
    from pgs.actors.shared.presence import PresenceRegister
    from pgs.actors.shared.registry import Registry

SWEEP_S = (
    30.0  # how often houses are looked at; one that is idle is closed within IDLE_CLOSE_S and this
)


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
    process_admission: ProcessAdmission
    installed_games: frozenset[str]
    games: Mapping[str, Rules]
    presence: PresenceRegister
    alarms: Alarms
    make_table: Callable[[PartnerActors, str, Cell], Actor]
    versions: ServedVersions
    on_event: Callable[[str], None]

    @property
    def ring(self) -> KeyRing:
        """The keys that sign and seal, the newest first."""
        return self.keys.ring

    def new_id(self, prefix: str) -> str:
        """Return a new random id."""
        return new_id(prefix, self.rng.bytes(ENTROPY_BYTES))


Make = Callable[["PartnerActors"], Actor]


class PartnerActors:
    """One partner's actors. Ask for a `Ref` anew each time: an idle partner is closed, and opened again on its next use."""

    def __init__(self, partner_id: str, parts: Parts, makers: dict[str, Make]) -> None:
        self.partner_id = partner_id
        self.parts = parts
        self.watch = Watch()
        self.admission = PartnerAdmission(parts.process_admission)
        self.embed_admission = PartnerAdmission(parts.process_admission)  # of the frame's documents
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
            cell = self._tables[match_id] = Cell(
                name, self.parts.system, self.watch, lambda cell: make(self, match_id, cell)
            )
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
            cell = self._cells[role] = Cell(
                f"{self.partner_id}/{role}", self.parts.system, self.watch, lambda _: make(self)
            )
        return cell.ref

    def is_idle(self, now: float) -> bool:
        """Return whether nothing would be lost by closing the partner: no actor alive, the buckets full, no rest to sit out."""
        alive = self.parts.system.cells
        return (
            now - self._used_at >= IDLE_CLOSE_S
            and self.admission.is_full(now)
            and self.embed_admission.is_full(now)
            and not self.watch.degraded(now)
            and not any(cell in alive for cell in (*self._cells.values(), *self._tables.values()))
        )

    def close(self) -> None:
        """Retire every address that was given out."""
        for cell in (*self._cells.values(), *self._tables.values()):
            cell.retired = True


class PartnerDirectory:
    """Every open partner by its partner's id. Whether a partner is ours is not asked yet: on one node the answer is yes."""

    def __init__(self, parts: Parts, makers: dict[str, Make]) -> None:
        self._parts = parts
        self._makers = makers
        self._partners: dict[str, PartnerActors] = {}

    def partner(self, partner_id: str) -> PartnerActors:
        """Return a partner's partner, opened if need be."""
        partner = self._partners.get(partner_id)
        if partner is None:
            partner = self._partners[partner_id] = PartnerActors(
                partner_id, self._parts, self._makers
            )
        return partner

    def __len__(self) -> int:
        return len(self._partners)

    def count_tables(self) -> int:
        """Return how many tables are open, of all partners."""
        return sum(partner.count_tables() for partner in self._partners.values())

    async def sweep(self) -> None:
        """Close idle houses, for ever."""
        while True:
            await trio.sleep(SWEEP_S)
            now = trio.current_time()
            for partner_id, partner in list(self._partners.items()):
                partner.clear_tables()
                if partner.is_idle(now):
                    partner.close()
                    del self._partners[partner_id]
