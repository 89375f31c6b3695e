"""The composition root: builds every part and opens the nurseries. The only file that knows every room."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache, partial
from ssl import SSLContext

import trio

from pgs.actors.account.actor import AccountActor
from pgs.actors.catalogue import CatalogueActor
from pgs.actors.core import Core
from pgs.actors.delivery.courier import CourierActor
from pgs.actors.kernel.cells import System
from pgs.actors.maintenance.attempts import keep_disabling, keep_pruning
from pgs.actors.maintenance.deadlines import keep_closing_idle, keep_ringing, keep_telling_due
from pgs.actors.messages.account.command import AccountChangedInRows
from pgs.actors.partners import Makers, PartnerActors, PartnerDirectory
from pgs.actors.parts import Parts
from pgs.actors.play.table import TableActor
from pgs.actors.ports import NudgePort, SettlementPort
from pgs.actors.seating.closing import close_what_is_off, keep_closed, keep_voided
from pgs.actors.seating.seats import SeatsActor
from pgs.actors.seating.settlement import EmbeddedSettlement, SettlementActor
from pgs.actors.seating.stopping import keep_stopped
from pgs.actors.seating.waves import wake_lobbies
from pgs.actors.shared.activity import Activity
from pgs.actors.shared.admission import ProcessAdmission
from pgs.actors.shared.alarms import Alarms
from pgs.actors.shared.catalogue import PublishedCatalogue
from pgs.actors.shared.closings import Closings
from pgs.actors.shared.deadlines import Deadlines
from pgs.actors.shared.deliveries import Deliveries
from pgs.actors.shared.feed_bells import ResultsBells
from pgs.actors.shared.key_uses import KeyUses
from pgs.actors.shared.presence import PresenceRegister
from pgs.actors.shared.registry import Registry
from pgs.clock import Clock, Rng, SystemClock, SystemRng
from pgs.config import Config
from pgs.domain.environments import ENVIRONMENTS
from pgs.domain.versions import VERSIONS, ServedVersions
from pgs.games.installed import load_games
from pgs.http.api.services import Services
from pgs.http.outbound import Outbound, trusted_roots
from pgs.keyfile import KeyFile
from pgs.storage.backup import take_over
from pgs.storage.database import Database

MAKERS = Makers(
    {
        "account": AccountActor,
        "settlement": SettlementActor,
        "seats.test": lambda partner: SeatsActor(partner, "test"),
        "seats.live": lambda partner: SeatsActor(partner, "live"),
        "courier.test": lambda partner: CourierActor(partner, "test"),
        "courier.live": lambda partner: CourierActor(partner, "live"),
    },
    TableActor,
    CatalogueActor,
)


@asynccontextmanager
async def open_core(
    config: Config,
    *,
    clock: Clock | None = None,
    rng: Rng | None = None,
    settlement: SettlementPort | None = None,
    outbound: NudgePort | None = None,
    versions: ServedVersions = VERSIONS,
    inline: bool = False,
    on_event: Callable[[str], None] = lambda name: None,
) -> AsyncIterator[Core]:
    """Give the service's core, working on the data folder; on leaving, commit what was taken and give the folder back.

    `settlement` and `outbound` stand in for the embedded ledger and the way to partners' endpoints. A new account is pinned to the current
    one of `versions`. `inline` commits on the event loop's own thread, for tests on a virtual clock. Raises `DataFolderInUse` and
    `BadKeyFile`.
    """
    clock, rng, games = clock or SystemClock(on_event), rng or SystemRng(), load_games()
    keys: KeyFile

    def open_keys(is_new: bool) -> None:
        nonlocal keys  # before the database: a start that dies in between leaves no database without its ring
        keys = KeyFile(config.key_file, rng, make=is_new)

    open_database = partial(Database, config.data_dir, inline=inline, on_locked=open_keys)
    # A migration of much may take long: meanwhile the loop answers who asks whether the process lives.
    database = open_database() if inline else await trio.to_thread.run_sync(open_database)
    try:
        take_over(database, clock.now())
        database.start()
        async with trio.open_nursery() as nursery:
            system = System(nursery, on_event)
            parts = Parts(
                system=system,
                database=database,
                clock=clock,
                rng=rng,
                keys=keys,
                registry=Registry(database, on_event),
                catalogue=PublishedCatalogue(database, on_event),
                bells=ResultsBells(),
                deadlines=Deadlines(clock),
                settlement=settlement or EmbeddedSettlement(),
                outbound=outbound or Outbound(_roots()),
                deliveries=Deliveries(),
                closings=Closings(),
                activity=Activity(),
                key_uses=KeyUses(database, clock),
                process_admission=ProcessAdmission(config.process_rate),
                games=games,
                presence=PresenceRegister(),
                alarms=Alarms(),
                versions=versions,
            )
            core = Core(parts, PartnerDirectory(parts, MAKERS))
            await parts.registry.refresh()
            await parts.catalogue.refresh()
            _start(core, nursery)
            try:
                yield core
            finally:
                with trio.CancelScope(shield=True):
                    parts.bells.ring_all()
                    await parts.deliveries.drain()
                    await parts.key_uses.flush()
                    await system.stop()
    finally:
        database.close()


@cache
def _roots() -> SSLContext:
    # Reading the roots takes tens of milliseconds; they are the same for the whole process.
    return trusted_roots()


def _start(core: Core, nursery: trio.Nursery) -> None:
    parts, directory = core.parts, core.directory
    nursery.start_soon(parts.system.janitor)
    nursery.start_soon(keep_closing_idle, directory)
    nursery.start_soon(parts.registry.keep_fresh)
    nursery.start_soon(parts.catalogue.keep_fresh)
    nursery.start_soon(keep_telling_due, parts, directory)
    nursery.start_soon(keep_ringing, parts, directory)
    nursery.start_soon(parts.presence.watch, parts.registry)
    parts.registry.on_publish = parts.presence.account_changed
    nursery.start_soon(keep_pruning, parts)
    nursery.start_soon(keep_disabling, parts, directory)

    def foreign_write(partner_id: str) -> None:
        partner: PartnerActors = directory.partner(partner_id)
        partner.account().tell(AccountChangedInRows())
        account = parts.registry.account(partner_id)
        if account is not None and not account.active:
            for environment in ENVIRONMENTS:
                parts.system.spawn(close_what_is_off, partner, environment)

    parts.registry.on_foreign_write = foreign_write
    nursery.start_soon(keep_closed, parts, directory)
    nursery.start_soon(keep_voided, parts, directory)
    nursery.start_soon(keep_stopped, parts, directory)
    nursery.start_soon(parts.key_uses.keep_writing)
    nursery.start_soon(wake_lobbies, parts, directory)


def services(
    core: Core,
    config: Config,
    base_url: str,
    versions: ServedVersions = VERSIONS,
    on_request: Callable[[str, int, float], None] = lambda endpoint, status, seconds: None,
) -> Services:
    """Return what the HTTP surface works with."""
    return Services(
        core.parts, core.directory, versions, base_url, config.restricted_to, on_request
    )
