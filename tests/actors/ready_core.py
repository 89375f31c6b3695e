"""A core on a virtual clock with one partner, `acme`, that may take seats at once."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import pytest
import trio
import trio.lowlevel
import trio.testing

import pgs.app
import pgs.storage.engines
from pgs.actors.core import Core
from pgs.actors.maintenance.chores import CHORES
from pgs.actors.messages.account.lifecycle import CreatePartner, PartnerCreated, SwitchAccount
from pgs.actors.messages.account.settings import AgreeTerms, SetPrices
from pgs.actors.messages.catalogue import SetTier, TierSet
from pgs.actors.messages.seats import DecideMatch, Seated, StakeSeat
from pgs.actors.partners import PartnerActors, PartnerDirectory
from pgs.actors.parts import Parts
from pgs.actors.ports import NudgePort, SettlementPort
from pgs.actors.seating.switching_off import close_play
from pgs.actors.shared.presence import PresenceRegister
from pgs.app import open_core
from pgs.clock import SystemClock
from pgs.config import Config
from pgs.domain.accounts import Account
from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.errors import Refusal
from pgs.domain.matches import Match, MatchWithSeats
from pgs.domain.seats import EndReason, Seat, SeatRequest
from pgs.storage import seats as rows
from pgs.storage.ledger import check_ledger
from pgs.storage.sqlite.database import SqliteDatabase
from pgs.storage.transactions import Stmt, Tx
from tests.feed import feed_page
from tests.virtual import START, Faults, SeededRng, clock

GAME = "tic-tac-toe"
FLOOR, PRIZE = 100, 180


class ReadyCore:
    """A core, and shortcuts for tests; the partner is `acme` unless another one is given."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.parts = core.parts
        self.reader = core.parts.database.reader

    def partner(self, partner: str = "acme") -> PartnerActors:
        return self.core.directory.partner(partner)

    def account(self, partner: str = "acme") -> Account:
        account = self.parts.registry.account(partner)
        assert account is not None
        return account

    async def open_partner(self, partner: str = "acme") -> None:
        """Open an account that has agreed to the terms."""
        made = await self.partner(partner).account().ask(CreatePartner(partner, "ops@acme.example"))
        assert isinstance(made, PartnerCreated)
        assert isinstance(await self.partner(partner).account().ask(AgreeTerms("ops", 1)), Account)

    async def set_tier(self, tier: str, floor: int, prize: int) -> None:
        for environment in ENVIRONMENTS:
            assert isinstance(
                await self.core.directory.catalogue().ask(
                    SetTier(environment, tier, None, floor, prize)
                ),
                TierSet,
            )

    async def set_prices(
        self, prices: dict[str, int], environment: Environment = "test", partner: str = "acme"
    ) -> None:
        assert isinstance(
            await self.partner(partner).account().ask(SetPrices("ops", environment, prices)),
            Account,
        )

    async def mark_active(self, active: bool, partner: str = "acme", by: str = "ops") -> None:
        """Switch the account on or off, and leave its play open."""
        switched = await self.partner(partner).account().ask(SwitchAccount(by, active))
        assert isinstance(switched, Account)

    async def switch(self, active: bool, partner: str = "acme", by: str = "ops") -> int:
        """Switch the account on or off, which closes its play; return how much was closed."""
        await self.mark_active(active, partner, by)
        return 0 if active else await self.close_play("account_inactive", partner)

    async def close_play(self, end_reason: EndReason, partner: str = "acme") -> int:
        """Close a partner's play in both environments; return how many seats and matches ended."""
        return sum(
            [await close_play(self.partner(partner), each, end_reason) for each in ENVIRONMENTS]
        )

    async def ask_seat(
        self,
        player: str,
        key: str | None = None,
        cents: int = FLOOR,
        *,
        tier: str = "bronze",
        game: str = GAME,
        environment: Environment = "test",
        partner: str = "acme",
        ref: str | None = None,
    ) -> Seated | Refusal:
        command = StakeSeat(
            SeatRequest(player, game, tier, cents, player if key is None else key, ref)
        )
        return await self.partner(partner).seats(environment).ask(command)

    async def seat(self, *args: Any, **named: Any) -> Seat:
        """Take a seat and return it. A used idempotency key returns the earlier seat."""
        reply = await self.ask_seat(*args, **named)
        assert isinstance(reply, Seated), reply
        return reply.seat

    async def decide(
        self,
        match_id: str | None,
        winner: str | None,
        environment: Environment = "test",
        partner: str = "acme",
    ) -> Match:
        assert match_id is not None
        command = DecideMatch(match_id, "ended", winner, "decided_by_test_key")
        record = await self.partner(partner).seats(environment).ask(command)
        assert isinstance(record, MatchWithSeats), record
        return record.match

    async def row(self, seat: Seat) -> Seat:
        """Return a seat's current row."""
        now = await rows.find_seat(self.reader, seat.partner_id, seat.seat_id)
        assert now is not None
        return now

    async def by_key(
        self, key: str, environment: Environment = "test", partner: str = "acme"
    ) -> Seat:
        seat = await rows.find_by_idempotency_key(self.reader, partner, environment, key)
        assert seat is not None
        return seat

    async def match_of(self, seat: Seat) -> Match:
        match_id = (await self.row(seat)).match_id
        assert match_id is not None
        match = await rows.find_match(self.reader, seat.partner_id, match_id)
        assert match is not None
        return match

    async def feed(
        self, environment: Environment = "test", partner: str = "acme", after: int = 0
    ) -> list[Seat]:
        return await feed_page(self.reader, partner, environment, after, 10_000)

    async def head(self, environment: Environment = "test", partner: str = "acme") -> rows.Head:
        return await rows.find_head(self.reader, partner, environment)

    async def count(self, query: str, **params: Any) -> int:
        return len(await self.reader.all(query, **params))

    async def check_money(self) -> None:
        report = await check_ledger(self.reader)
        assert report.sound, report

    async def write_without_the_actors(self, *stmts: Stmt) -> None:
        """Commit statements directly, so that no actor knows of them."""
        await self.parts.database.writer.submit(Tx("acme", stmts))


def _is_here(register: PresenceRegister, player: object) -> bool:
    return True  # a Mock would keep every call, and there are hundreds in a round of random play


@asynccontextmanager
async def ready_core(
    folder: Path,
    settlement: SettlementPort | None = None,
    *,
    seed: int = 0,
    faults: Faults | None = None,
    on_event: Callable[[str], None] = lambda name: None,
    threaded: bool = False,
    outbound: NudgePort | None = None,
    all_here: bool = True,
) -> AsyncIterator[ReadyCore]:
    """Open the core on a folder. A new folder gets the tier `bronze` and the partner `acme`.

    `threaded`: the writer has its own thread, so the test runs in real time. `all_here`: live seats
    are paired as if every player had a socket open.
    """
    database = (
        partial(SqliteDatabase, factory=faults.factory) if faults is not None else SqliteDatabase
    )
    async with AsyncExitStack() as stack:
        if all_here:
            stack.enter_context(mock.patch.object(PresenceRegister, "is_here", _is_here))
        with mock.patch.object(pgs.storage.engines, "SqliteDatabase", database):
            opened = open_core(
                Config(data_dir=folder),
                clock=SystemClock() if threaded else clock(),
                rng=SeededRng(seed),
                settlement=settlement,
                outbound=outbound,
                inline=not threaded,
                on_event=on_event,
            )
            core = await stack.enter_async_context(opened)
        made = ReadyCore(core)
        if core.parts.registry.account("acme") is None:
            await made.set_tier("bronze", FLOOR, PRIZE)
            await made.open_partner()
        try:
            yield made
        finally:
            if faults is not None:
                faults.heal()


def tend_every(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the chores that run every second less often, so that virtual time has fewer wake-ups."""
    chores = [
        msgspec.structs.replace(chore, every_s=seconds, first_after_s=seconds)
        if chore.wait is None and chore.every_s <= 1
        else chore
        for chore in CHORES
    ]
    monkeypatch.setattr(pgs.app, "CHORES", chores)


@asynccontextmanager
async def again_and_again(
    work: Callable[[Parts, PartnerDirectory], Awaitable[None]], s: ReadyCore
) -> AsyncIterator[None]:
    """Run a chore repeatedly, without a pause, while the block runs."""

    async def run() -> None:
        while True:
            await work(s.parts, s.core.directory)
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        yield
        nursery.cancel_scope.cancel()


async def until(seconds: float) -> None:
    """Wait until so many seconds of virtual time after the start, and until all work due is done.

    It waits a tenth of a millisecond longer, because epoch seconds as floats are exact only to a
    quarter of a microsecond.
    """
    await trio.sleep(seconds + 0.0001 - trio.current_time())
    await trio.testing.wait_all_tasks_blocked()


async def settle() -> None:
    """Wait until every message sent so far has been handled."""
    await trio.testing.wait_all_tasks_blocked()


def at(seconds: int) -> int:
    """Return the epoch second at `seconds` of virtual time since the start."""
    return START + seconds


def money(seat: Seat) -> tuple[int | None, int | None, int | None]:
    """Return what a seat's row says of its money: payout, refund, rake."""
    return seat.payout_usd_cents, seat.refund_usd_cents, seat.rake_usd_cents


def keys_of(seats: Sequence[Seat]) -> list[str]:
    """Return the idempotency keys of seats, in order."""
    return [seat.idempotency_key for seat in seats]
