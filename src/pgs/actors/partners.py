"""One partner's actors and rate buckets, and the directory of all partners."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
import trio

from pgs.actors.kernel.cell import IDLE_CLOSE_S, Cell
from pgs.actors.kernel.mail import Actor
from pgs.actors.kernel.ref import Ref
from pgs.actors.kernel.restarts import RestartCounter
from pgs.actors.parts import Parts
from pgs.actors.shared.admission import PartnerAdmission
from pgs.domain.environments import Environment
from pgs.domain.rate import GAME_API_FACTOR, TEST_MATCH_POLICY, Bucket


class Makers(msgspec.Struct, frozen=True):
    """The functions that make the actors. `roles`: those of a partner's actors, by role."""

    roles: Mapping[str, Callable[[PartnerActors, Cell], Actor]]
    table: Callable[[PartnerActors, str, Cell], Actor]
    catalogue: Callable[[Parts], Actor]


class PartnerActors:
    """One partner's actors. They share one restart limit.

    Get a new `Ref` for each message: the refs of a closed partner or table are invalid.
    """

    def __init__(self, partner_id: str, parts: Parts, makers: Makers) -> None:
        self.partner_id = partner_id
        self.parts = parts
        self.restarts = RestartCounter()
        self.admission = PartnerAdmission(parts.process_admission)
        self.embed_admission = PartnerAdmission(parts.process_admission)  # for the frame's pages
        self.game_admission = PartnerAdmission(parts.process_admission, GAME_API_FACTOR)
        self.test_matches = Bucket(TEST_MATCH_POLICY)
        self._makers = makers
        self._cells: dict[str, Cell] = {}  # by role
        self._tables: dict[str, Cell] = {}  # by match id
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

    def billing(self, environment: Environment) -> Ref:
        """Return the actor of the invoices of an environment."""
        return self._ref(f"billing.{environment}")

    def settlement(self) -> Ref:
        """Return the actor of charges and payouts."""
        return self._ref("settlement")

    def table(self, match_id: str) -> Ref:
        """Return the table of a match; create it if it is not open."""
        self._used_at = trio.current_time()
        cell = self._tables.get(match_id)
        if cell is None:
            cell = self._tables[match_id] = self._cell(
                f"table.{match_id}", lambda cell: self._makers.table(self, match_id, cell)
            )
        return cell.ref

    def open_table(self, match_id: str) -> Ref | None:
        """Return the table of a match if it is open."""
        return self.table(match_id) if match_id in self._tables else None

    def count_tables(self) -> int:
        """Return how many tables have a running task."""
        alive = self.parts.system.cells
        return sum(cell in alive for cell in self._tables.values())

    def clear_tables(self) -> None:
        """Forget the tables whose actors have ended."""
        alive = self.parts.system.cells
        for match_id, cell in list(self._tables.items()):
            if cell not in alive:
                cell.retired = True
                del self._tables[match_id]

    def is_idle(self, now: float) -> bool:
        """Return whether the partner can be closed without losing anything.

        It was not used for `IDLE_CLOSE_S`, no actor is alive, the rate buckets are full, and the
        partner is not resting.
        """
        alive = self.parts.system.cells
        return (
            now - self._used_at >= IDLE_CLOSE_S
            and self.admission.is_full(now)
            and self.embed_admission.is_full(now)
            and self.game_admission.is_full(now)
            and self.test_matches.is_full(now)
            and not self.restarts.degraded(now)
            and not any(cell in alive for cell in (*self._cells.values(), *self._tables.values()))
        )

    def close(self) -> None:
        """Retire all cells: their refs are invalid from now on and raise `RuntimeError`."""
        for cell in (*self._cells.values(), *self._tables.values()):
            cell.retired = True

    def _ref(self, role: str) -> Ref:
        self._used_at = trio.current_time()
        cell = self._cells.get(role)
        if cell is None:
            make = self._makers.roles[role]
            cell = self._cells[role] = self._cell(role, lambda cell: make(self, cell))
        return cell.ref

    def _cell(self, name: str, make: Callable[[Cell], Actor]) -> Cell:
        return Cell(f"{self.partner_id}/{name}", self.parts.system, self.restarts, make)


class PartnerDirectory:
    """Every open partner by id, and the platform's own actor.

    There is only one node so far, so it holds every partner.
    """

    def __init__(self, parts: Parts, makers: Makers) -> None:
        self._parts = parts
        self._makers = makers
        self._partners: dict[str, PartnerActors] = {}
        self._catalogue = Cell(
            "platform/catalogue", parts.system, RestartCounter(), lambda _: makers.catalogue(parts)
        )

    def partner(self, partner_id: str) -> PartnerActors:
        """Return a partner's actors; open the partner if it is not open."""
        partner = self._partners.get(partner_id)
        if partner is None:
            partner = PartnerActors(partner_id, self._parts, self._makers)
            self._partners[partner_id] = partner
        return partner

    def catalogue(self) -> Ref:
        """Return the actor that changes tiers and rake terms."""
        return self._catalogue.ref

    def __len__(self) -> int:
        return len(self._partners)

    def count_tables(self) -> int:
        """Return how many tables of all partners have a running task."""
        return sum(partner.count_tables() for partner in self._partners.values())

    def close_idle(self) -> None:
        """Forget the tables that have ended, and the partners that are idle."""
        now = trio.current_time()
        for partner_id, partner in list(self._partners.items()):
            partner.clear_tables()
            if partner.is_idle(now):
                partner.close()
                del self._partners[partner_id]
