"""Writes rows of the ledger, and checks all ledgers: their hashes, the seats and the totals."""

from collections.abc import Callable
from math import inf

import msgspec

from pgs.domain.days import format_day
from pgs.domain.environments import Environment
from pgs.domain.ledger import FIRST_HASH, LedgerRow, hash_of
from pgs.storage.pauses import no_pause
from pgs.storage.reader import Reader, Row
from pgs.storage.seats import final_seal
from pgs.storage.transactions import Params, Stmt

FAULTS_LISTED = 100
"""Faults in one list of a report. A longer list would not help an operator more."""

PAGE = 1000
"""Rows of a ledger that the check reads in one page: about half a megabyte. At a fault, two
pages are in memory."""


class LedgerTotals(msgspec.Struct, frozen=True, rename="camel"):
    """The sums of all rows of an environment, in US cents. `open`: stakes that escrow holds."""

    environment: Environment
    rows: int
    stakes_usd_cents: int
    payouts_usd_cents: int
    refunds_usd_cents: int
    rake_usd_cents: int
    open_usd_cents: int


class LedgerReport(msgspec.Struct, frozen=True, rename="camel"):
    """The sums of all ledgers, and their faults: empty lists when the ledgers are sound.

    In sound ledgers the stakes equal the sum of payouts, refunds, rake and open stakes, for every
    partner, environment and day. A fault names its partner, and its environment, row, seat, match,
    invoice or day.
    """

    totals: list[LedgerTotals]
    broken_chains: list[str]
    seats_booked_otherwise: list[str]
    matches_that_do_not_add_up: list[str]
    stray_rows: list[str]
    days_that_do_not_add_up: list[str]
    invoices_that_do_not_add_up: list[str]
    heads_that_do_not_add_up: list[str]

    def faults(self) -> list[str]:
        """Return every fault with the name of its list."""
        lists = msgspec.structs.asdict(self)
        del lists["totals"]
        return [
            f"{name.replace('_', ' ')}: {fault}" for name, found in lists.items() for fault in found
        ]

    @property
    def sound(self) -> bool:
        """Whether the check found no fault."""
        return not self.faults()


def insert_row(row: LedgerRow) -> Stmt:
    """Return the statement that adds a row; booking a seat's transfer twice conflicts."""
    return Stmt("ledger.insert_row", row, 1)


async def check_ledger(reader: Reader, pause: Callable[[], None] = no_pause) -> LedgerReport:
    """Return the report on all ledgers as of one moment, in bounded memory.

    `pause` is called after each page of rows.
    """
    shown: Params = {"page_size": FAULTS_LISTED}
    async with reader.one_moment():
        return LedgerReport(
            totals=[LedgerTotals(*row) for row in await reader.all("ledger.sums")],
            broken_chains=await broken_chains(reader, pause),
            seats_booked_otherwise=_named(
                await reader.all("ledger.seats_booked_otherwise", **shown)
            ),
            matches_that_do_not_add_up=_named(
                await reader.all("ledger.matches_that_do_not_add_up", **shown)
            ),
            stray_rows=_named(await reader.all("ledger.stray_rows", **shown)),
            days_that_do_not_add_up=[
                f"{partner_id} {environment} {_day(day)} {game_id} {tier_id}"
                for partner_id, environment, day, game_id, tier_id in await reader.all(
                    "ledger.days_that_do_not_add_up", **shown
                )
            ],
            invoices_that_do_not_add_up=_named(
                await reader.all("ledger.invoices_that_do_not_add_up", **shown)
            ),
            heads_that_do_not_add_up=await _head_faults(reader, shown),
        )


async def _head_faults(reader: Reader, shown: Params) -> list[str]:
    """Return the faults outside the ledgers.

    They are: a wrong number of seats, an altered last final day, a missing account.
    """
    faults = [
        f"{partner_id} {environment}: seats taken: {last}, seats found: {there}"
        for partner_id, environment, last, there in await reader.all(
            "ledger.seats_by_head", **shown
        )
    ]
    faults += [
        f"{partner_id} {environment}: the last final day was altered"
        for partner_id, environment, day, seal in await reader.all("ledger.final_days")
        # A head that a restore has added has no seal yet.
        if (seal or day) and seal != final_seal(partner_id, environment, day)
    ]
    faults += [
        f"{partner_id}: the account is missing"
        for (partner_id,) in await reader.all("ledger.partners_without_a_row", **shown)
    ]
    return faults[:FAULTS_LISTED]


class _Chain(msgspec.Struct):
    """The rows of a ledger that form a chain, read in the order in which they were written.

    A row continues the chain if it has the next number, and its hash is right for its fields and
    the hash of the row before it. `seq`, `row_id`, `hash`: those of the chain's last row. `whole`:
    whether no row is outside the chain. `odd`: the least number of a row outside the chain. A row
    that was altered by hand may have a text as its number; `odd` leaves such rows out.
    """

    seq: int = 0
    row_id: int = 0
    hash: str = FIRST_HASH
    whole: bool = True
    odd: float = inf


async def broken_chains(reader: Reader, pause: Callable[[], None] = no_pause) -> list[str]:
    """Return the first fault of each ledger whose rows were altered, moved, added or deleted."""
    chains = await _chains(reader, pause)
    broken: list[str] = []
    for partner_id, environment, last_seq, last_hash in await reader.all("ledger.heads"):
        chain = chains.get((partner_id, environment), _Chain())
        if chain.whole and (chain.seq, chain.hash) == (last_seq, last_hash):
            continue
        fault: str | None
        if chain.odd <= chain.seq:  # the chain has another row with that number
            fault = f"row {chain.odd} was added by somebody else"
        else:
            fault = await _first_fault(
                reader, partner_id, environment, chain, last_seq, last_hash, pause
            )
        if fault is not None:
            broken.append(f"{partner_id} {environment}: {fault}")
        if len(broken) == FAULTS_LISTED:
            break
    return broken


async def _chains(
    reader: Reader, pause: Callable[[], None]
) -> dict[tuple[str, Environment], _Chain]:
    """Return the chain of each ledger that has rows, by partner and environment.

    This reads every row once. A chain takes about 300 bytes.
    """
    chains: dict[tuple[str, Environment], _Chain] = {}
    # Row ids are given out from 1 on, but a row that was added by hand may have any that fits into
    # eight bytes.
    first = -(2**63)
    while first < 2**63 and (page := await reader.all("ledger.page", first=first, page_size=PAGE)):
        for *fields, row_id in page:
            row = LedgerRow(*fields)
            chain = chains.setdefault((row.partner_id, row.environment), _Chain())
            if row.seq == chain.seq + 1 and row.hash == hash_of(row, chain.hash):
                chain.seq, chain.row_id, chain.hash = row.seq, row_id, row.hash
                continue
            chain.whole = False
            if isinstance(row.seq, int | float):
                chain.odd = min(chain.odd, row.seq)
        first = row_id + 1
        pause()
    return chains


async def _first_fault(
    reader: Reader,
    partner_id: str,
    environment: Environment,
    chain: _Chain,
    last_seq: int,
    last_hash: str,
    pause: Callable[[], None],
) -> str | None:
    """Return the fault of the first row that was altered, moved, added or deleted, or None.

    The search begins after the last row of the chain.
    """
    seq, row_id, before = chain.seq, chain.row_id, chain.hash
    while page := await _page(reader, partner_id, environment, seq, row_id):
        for row, row_id in page:
            if row.seq == seq:
                return f"row {seq} was added by somebody else"
            if row.seq != seq + 1:
                return f"row {seq + 1} is missing"
            if row.hash != hash_of(row, before):
                # If rows were swapped, the one that belongs here is usually among the next ones.
                later = await _page(reader, partner_id, environment, row.seq, row_id)
                follows = any(other.hash == hash_of(other, before) for other, _ in later)
                return f"row {row.seq} is {'out of order' if follows else 'altered'}"
            seq, before = row.seq, row.hash
        pause()
    if seq < last_seq:
        return f"row {seq + 1} is missing"
    if seq > last_seq:
        return f"row {last_seq + 1} was added by somebody else"
    return None if before == last_hash else f"row {seq} is altered"


async def _page(
    reader: Reader, partner_id: str, environment: Environment, after_seq: int, after_row_id: int
) -> list[tuple[LedgerRow, int]]:
    """Return rows of a ledger in the order of their numbers, each with its row id."""
    rows = await reader.all(
        "ledger.page_of_one",
        partner_id=partner_id,
        environment=environment,
        after_seq=after_seq,
        after_row_id=after_row_id,
        page_size=PAGE,
    )
    return [(LedgerRow(*fields), row_id) for *fields, row_id in rows]


def _day(day: int | None) -> str:
    """Return a day for a report. A match that was altered by hand may have no day."""
    return "no day" if day is None else format_day(day)


def _named(rows: list[Row]) -> list[str]:
    return [" ".join(map(str, row)) for row in rows]
