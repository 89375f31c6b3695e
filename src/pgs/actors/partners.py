"""One partner's actors and rate buckets, and the directory of all partners."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
import trio

from pgs.actors.kernel.cell import IDLE_CLOSE_S, Cell
from pgs.actors.kernel.children import Children
from pgs.actors.kernel.mail import Actor, NotOwned
from pgs.actors.kernel.ref import Ref
from pgs.actors.kernel.restarts import RestartCounter
from pgs.actors.parts import Parts
from pgs.actors.shared.admission import PartnerAdmission, ProcessAdmission, SharedAdmission
from pgs.domain.environments import Environment
from pgs.domain.shards import shard_of, shard_of_platform
from pgs.domain.token_buckets import GAME_API_FACTOR, RESEND_POLICY, TEST_MATCH_POLICY, Bucket


class Makers(msgspec.Struct, frozen=True):
    """The functions that make the actors. `roles` has those for a partner's actors, by role."""

    roles: Mapping[str, Callable[[PartnerActors, Cell], Actor]]
    table: Callable[[PartnerActors, str, Cell], Actor]
    catalogue: Callable[[Parts], Actor]


class PartnerActors:
    """One partner's actors. They share one restart limit.

    Get a new `Ref` for each message: the refs of a closed partner or table are invalid. `children`
    runs the child tasks if another node may take the partner over.
    """

    def __init__(
        self,
        partner_id: str,
        parts: Parts,
        makers: Makers,
        process: ProcessAdmission,
        children: Children | None = None,
    ) -> None:
        self.partner_id = partner_id
        self.parts = parts
        self.restarts = RestartCounter()
        self.admission = PartnerAdmission(process)
        self.embed_admission = PartnerAdmission(process)  # for the frame's pages
        self.game_admission = PartnerAdmission(process, GAME_API_FACTOR)
        self.test_matches = Bucket(TEST_MATCH_POLICY)
        self.resends = Bucket(RESEND_POLICY)
        self._makers = makers
        self._cells: dict[str, Cell] = {}  # by role
        self._tables: dict[str, Cell] = {}  # by match id
        self._used_at = trio.current_time()
        self._children = children
        self.given_up = False

    def spawn(self, work: Callable[..., Awaitable[None]], *args: Any) -> None:
        """Start a child task. With several nodes, it ends when this node gives the partner up."""
        (self._children or self.parts.system).spawn(work, *args)

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
        self._used_at = self.parts.system.now()
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

        A partner can be closed once nobody has used it for `IDLE_CLOSE_S`, all its actors have
        ended, and its rate buckets are full. A degraded partner stays open.
        """
        alive = self.parts.system.cells
        return (
            now - self._used_at >= IDLE_CLOSE_S
            and self.admission.is_full(now)
            and self.embed_admission.is_full(now)
            and self.game_admission.is_full(now)
            and self.test_matches.is_full(now)
            and self.resends.is_full(now)
            and not self.restarts.degraded(now)
            and not any(cell in alive for cell in (*self._cells.values(), *self._tables.values()))
        )

    def close(self) -> None:
        """Retire all cells: their refs are invalid from now on and raise `RuntimeError`."""
        for cell in (*self._cells.values(), *self._tables.values()):
            cell.retired = True

    def give_up(self) -> list[Cell]:
        """Refuse all messages from now on, and cancel child tasks.

        Return the cells of all actors, which the caller has to end.
        """
        self.given_up = True
        cells = [*self._cells.values(), *self._tables.values()]
        # An actor that is finishing its last message may still look up other actors of this
        # partner. From now on it gets refs that refuse every message.
        self._cells, self._tables = {}, {}
        if self._children is not None:
            self._children.end()
        return cells

    def _ref(self, role: str) -> Ref:
        self._used_at = self.parts.system.now()
        cell = self._cells.get(role)
        if cell is None:
            make = self._makers.roles[role]
            cell = self._cells[role] = self._cell(role, lambda cell: make(self, cell))
        return cell.ref

    def _cell(self, name: str, make: Callable[[Cell], Actor]) -> Cell:
        cell = Cell(f"{self.partner_id}/{name}", self.parts.system, self.restarts, make)
        if self.given_up:
            cell.give_up(at_once=True)
        return cell


class PartnerDirectory:
    """Every open partner by id, and the platform's own actor.

    With several nodes, each opens only the partners of its shards. When a node gives up a shard, it
    also gives up the open partners of that shard. The argument `owns` tells whether this node owns
    a shard now; it is None if there are no other nodes. `admission` has the rate buckets of the
    process, of unknown keys, of players and of admins.
    """

    def __init__(
        self,
        parts: Parts,
        makers: Makers,
        admission: SharedAdmission,
        owns: Callable[[int], bool] | None = None,
    ) -> None:
        self.admission = admission
        self._parts = parts
        self._makers = makers
        self._partners: dict[str, PartnerActors] = {}
        self._owns = owns
        self._ending: list[Cell] = []  # given up; each may be finishing a message
        self._catalogue = self._catalogue_cell()

    def partner(self, partner_id: str) -> PartnerActors:
        """Return a partner's actors; open the partner if it is not open.

        Raises `NotOwned` if it is not open and this node does not own it.
        """
        partner = self._partners.get(partner_id)
        if partner is None:
            children = None
            if self._owns is not None:
                if not self._owns(shard_of(partner_id)):
                    raise NotOwned(partner_id)
                children = Children(self._parts.system)
            partner = PartnerActors(
                partner_id, self._parts, self._makers, self.admission.process, children
            )
            self._partners[partner_id] = partner
        return partner

    def owned(self, partner_id: str) -> PartnerActors | None:
        """Return a partner's actors like `partner`; None if this node does not own the partner."""
        return self.partner(partner_id) if self.owns(partner_id) else None

    def is_open(self, partner_id: str) -> bool:
        """Return whether a partner's actors are open."""
        return partner_id in self._partners

    @property
    def is_alone(self) -> bool:
        """Whether there are no other nodes."""
        return self._owns is None

    def owns(self, partner_id: str) -> bool:
        """Return whether this node owns a partner now."""
        return self._owns is None or self._owns(shard_of(partner_id))

    @property
    def leads(self) -> bool:
        """Whether this node works for the whole installation: it owns the platform's shard."""
        return self._owns is None or self._owns(shard_of_platform())

    def catalogue(self) -> Ref:
        """Return the actor that changes tiers and rake terms. Raises `NotOwned`."""
        if not self.leads:
            raise NotOwned("platform")
        return self._catalogue.ref

    def give_up(self, shard: int | None, *, at_once: bool) -> list[trio.Event]:
        """Close the partners of a shard, or all; return an event for the end of each actor.

        Actors end after their current message, after `STOP_GRACE_S` at the latest. With `at_once`
        they end immediately, in the middle of it. `at_once` also ends actors that are still
        finishing a message after an earlier call.
        """
        cells: list[Cell] = []
        for partner_id, partner in list(self._partners.items()):
            if shard is None or shard_of(partner_id) == shard:
                del self._partners[partner_id]
                cells += partner.give_up()
        if not shard:  # shard 0, or all
            cells.append(self._catalogue)
            self._catalogue = self._catalogue_cell()
        if at_once:
            cells += self._ending
        alive = self._parts.system.cells
        self._ending = [cell for cell in (*self._ending, *cells) if cell in alive]
        return [cell.give_up(at_once=at_once) for cell in cells]

    def _catalogue_cell(self) -> Cell:
        make, parts = self._makers.catalogue, self._parts
        return Cell("platform/catalogue", parts.system, RestartCounter(), lambda _: make(parts))

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
