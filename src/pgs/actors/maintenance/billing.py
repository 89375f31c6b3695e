"""Chores of billing: they make days final and assemble the invoices of past months."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import aclosing, contextmanager
from typing import Any, TypeVar

from pgs.actors.kernel.mail import Crashed, Overloaded
from pgs.actors.messages.billing import AssembleInvoice
from pgs.actors.messages.seats import FinaliseDays
from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts
from pgs.domain.days import FINAL_AFTER_S, day_of, last_day, month_of
from pgs.domain.environments import Environment
from pgs.storage.bulk import read_in_bulk
from pgs.storage.invoices import drafts_after, partners_with_unbilled
from pgs.storage.reader import Reader
from pgs.storage.seats import heads_before

PAGE = 200
"""Partners, or draft invoices, that one query returns: a read of a few milliseconds."""

T = TypeVar("T")

EnvironmentKey = tuple[str, Environment]
DraftKey = tuple[str, Environment, int]

# The start of paging: the empty id sorts before every partner's.
FIRST: EnvironmentKey = ("", "live")
FIRST_DRAFT: DraftKey = ("", "live", 0)


class KeptErrors:
    """Keeps the errors of overloaded or crashed actors, so that a run still serves all partners."""

    def __init__(self) -> None:
        self._error: Exception | None = None

    @contextmanager
    def keep(self) -> Iterator[None]:
        """Catch an error of the block and keep it for `check`."""
        try:
            yield
        except (Overloaded, Crashed) as error:
            self._error = error

    def check(self) -> None:
        """Raise the last error that was kept, so that the run counts as failed."""
        if self._error is not None:
            raise self._error


async def finalise_days(parts: Parts, directory: PartnerDirectory) -> None:
    """Make every day up to yesterday final, for each partner and environment.

    Until `FINAL_AFTER_S` after midnight, yesterday is left out. A day whose money is not all
    recorded is tried again in the next run. Raises `StoreOutage`, `Overloaded` or `Crashed`.
    """
    errors, yesterday = KeptErrors(), day_of(parts.clock.now() - FINAL_AFTER_S) - 1
    heads = _each(parts, FIRST, lambda reader, after: heads_before(reader, yesterday, after, PAGE))
    async with aclosing(heads):
        async for partner_id, environment in heads:
            with errors.keep():
                if directory.owns(partner_id):
                    await directory.partner(partner_id).seats(environment).ask(FinaliseDays())
    errors.check()


async def assemble_invoices(parts: Parts, directory: PartnerDirectory) -> None:
    """Assemble the invoices of past months. Raises `StoreOutage`, `Overloaded` or `Crashed`."""
    errors, last = KeptErrors(), month_of(day_of(parts.clock.now())) - 1

    async def assemble(partner_id: str, environment: Environment, month: int) -> None:
        with errors.keep():
            if directory.owns(partner_id):
                billing = directory.partner(partner_id).billing(environment)
                await billing.ask(AssembleInvoice(month))

    billable = _each(
        parts,
        FIRST,
        lambda reader, after: partners_with_unbilled(reader, last_day(last), after, PAGE),
    )
    async with aclosing(billable):
        async for partner_id, environment in billable:
            await assemble(partner_id, environment, last)
    # A crash can leave a draft that has all of its lines. The list above misses such drafts.
    drafts = _each(
        parts, FIRST_DRAFT, lambda reader, after: drafts_after(reader, last, after, PAGE)
    )
    async with aclosing(drafts):
        async for partner_id, environment, month in drafts:
            await assemble(partner_id, environment, month)
    errors.check()


async def _each(
    parts: Parts, first: T, read: Callable[[Reader, T], Coroutine[Any, Any, list[T]]]
) -> AsyncGenerator[T, None]:
    """Yield every entry of a list that is read in pages; `read` returns what follows an entry."""
    after = first
    while page := await _read(parts, after, read):
        for entry in page:
            yield entry
        after = page[-1]


async def _read(
    parts: Parts, after: T, read: Callable[[Reader, T], Coroutine[Any, Any, list[T]]]
) -> list[T]:
    return await read_in_bulk(parts.database, lambda reader: read(reader, after))
