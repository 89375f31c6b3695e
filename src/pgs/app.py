"""Builds every part of the service's core from the settings, and starts its background work."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

import trio

from pgs.actors.account.actor import AccountActor
from pgs.actors.billing_actor import BillingActor
from pgs.actors.catalogue_actor import CatalogueActor
from pgs.actors.core import Core
from pgs.actors.delivery.courier import CourierActor
from pgs.actors.kernel.system import System, open_system
from pgs.actors.maintenance.chores import CHORES
from pgs.actors.maintenance.runner import ChoreRunner
from pgs.actors.partners import Makers, PartnerDirectory
from pgs.actors.parts import Parts
from pgs.actors.play.table import TableActor
from pgs.actors.ports import NudgePort, SettlementPort
from pgs.actors.seating.seats_actor import SeatsActor
from pgs.actors.seating.settlement_actor import EmbeddedSettlement, SettlementActor
from pgs.actors.shard_holdings import Holdings
from pgs.actors.shared.activity import Activity
from pgs.actors.shared.admission import SharedAdmission
from pgs.actors.shared.clock_watch import ClockWatch
from pgs.actors.shared.closings import Closings
from pgs.actors.shared.database_watch import DatabaseWatch
from pgs.actors.shared.deadlines import Deadlines
from pgs.actors.shared.deliveries import Deliveries
from pgs.actors.shared.feed_bells import ResultsBells
from pgs.actors.shared.feed_rows import FeedRows
from pgs.actors.shared.key_uses import KeyUses
from pgs.actors.shared.open_money import OpenMoney
from pgs.actors.shared.presence import PresenceRegister
from pgs.actors.shared.published_catalogue import PublishedCatalogue
from pgs.actors.shared.registry import Registry
from pgs.actors.shared.settlements import Settlements
from pgs.actors.shared.table_alarms import Alarms
from pgs.clock import Clock, Rng, SystemClock, SystemRng
from pgs.config import Config
from pgs.domain.ids import Ids
from pgs.domain.versions import VERSIONS, ServedVersions
from pgs.games.installed import load_games
from pgs.http.outbound.fetch import JsonClient
from pgs.http.outbound.settlement_client import RemoteSettlement, read_token
from pgs.http.outbound.tries import Outbound
from pgs.keyfile import KeyFile
from pgs.storage.database import Database
from pgs.storage.engines import Ownership, make_keeper, open_database

MAKERS = Makers(
    roles={
        "account": lambda partner, _: AccountActor(partner),
        "settlement": lambda partner, _: SettlementActor(partner),
        "billing.test": lambda partner, _: BillingActor(partner, "test"),
        "billing.live": lambda partner, _: BillingActor(partner, "live"),
        "seats.test": lambda partner, cell: SeatsActor(partner, "test", cell),
        "seats.live": lambda partner, cell: SeatsActor(partner, "live", cell),
        "courier.test": lambda partner, _: CourierActor(partner, "test"),
        "courier.live": lambda partner, _: CourierActor(partner, "live"),
    },
    table=TableActor,
    catalogue=CatalogueActor,
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
    on_settlement_call: Callable[[str, str, float], None] = lambda kind, outcome, seconds: None,
) -> AsyncIterator[Core]:
    """Yield the service's core, which works on the data folder.

    At the end of the block, commit what was accepted and release the folder.

    A `settlement` whose `instant` is true replaces the embedded settlement. Any other `settlement`
    replaces the client of the settlement server. `outbound` replaces the client that calls
    partners' endpoints. A new account is pinned to the current version of `versions`. With
    `inline`, the event loop's thread commits, for tests on a virtual clock. `on_settlement_call` is
    called after each call to the settlement server.

    Raises `BadSettings`, `BadKeyFile`, `BadGame`, `StoreOutage` and the errors of `open_database`.
    """
    clock, rng = clock or SystemClock(on_event), rng or SystemRng()
    settlements = _make_settlements(config, settlement, on_settlement_call)
    outbound = outbound or Outbound()
    database, keys = await _open_folder(config, rng, inline)
    try:
        database.take_over(clock.now())
        database.start()
        async with open_system(on_event) as system:
            parts = _make_parts(system, database, clock, rng, keys, versions, settlements, outbound)
            shards = Ownership() if config.node_name else None
            directory = PartnerDirectory(
                parts,
                MAKERS,
                SharedAdmission(config.process_rate),
                shards.owns if shards else None,
            )
            if shards is not None:
                shards.keeper = make_keeper(config, database, Holdings(parts, directory))
            chores = ChoreRunner(CHORES, parts, directory)
            await parts.registry.refresh()
            await parts.catalogue.refresh()
            chores.start(system.nursery)
            if shards is not None and shards.keeper is not None:
                system.nursery.start_soon(shards.keeper.run)
            try:
                keeper = shards.keeper if shards else None
                portal = portal_url(config, config.base_url)
                yield Core(parts, directory, chores, keeper, portal_url=portal)
            finally:
                await _wind_up(parts)
    finally:
        database.close()


def portal_url(config: Config, base_url: str) -> str:
    """Return the portal's address, or an empty text if it is not served or `base_url` is empty."""
    served = config.identity_issuer and config.identity_client_id
    return f"{base_url}/portal" if served and base_url else ""


def _make_settlements(
    config: Config,
    replacement: SettlementPort | None,
    on_call: Callable[[str, str, float], None],
) -> Settlements:
    """Return the settlements that hold stakes. Raises `BadSettings` for a bad token file."""
    embedded: SettlementPort = EmbeddedSettlement()
    remote: SettlementPort | None = None
    if config.settlement_url and config.settlement_token_file is not None:
        token = read_token(config.settlement_token_file)
        remote = RemoteSettlement(JsonClient(), config.settlement_url, token)
    if replacement is not None and replacement.instant:
        embedded = replacement
    elif replacement is not None:
        remote = replacement
    return Settlements(embedded, remote, on_call)


async def _open_folder(config: Config, rng: Rng, inline: bool) -> tuple[Database, KeyFile]:
    keys: list[KeyFile] = []

    def open_keys(is_new: bool) -> None:
        # The key ring is made before the database, so that a start that is killed never leaves a
        # database without one.
        keys.append(KeyFile(config.key_file, rng, make=is_new))

    opening = partial(open_database, config, inline=inline, on_locked=open_keys)
    # In a thread: a migration may take long, and health checks must be answered meanwhile.
    database = opening() if inline else await trio.to_thread.run_sync(opening)
    return database, keys[0]


def _make_parts(
    system: System,
    database: Database,
    clock: Clock,
    rng: Rng,
    keys: KeyFile,
    versions: ServedVersions,
    settlements: Settlements,
    outbound: NudgePort,
) -> Parts:
    presence = PresenceRegister()
    return Parts(
        system=system,
        database=database,
        clock=clock,
        rng=rng,
        ids=Ids(clock.now_ms, rng.bytes),
        keys=keys,
        games=load_games(),
        versions=versions,
        settlements=settlements,
        open_money=OpenMoney(),
        registry=Registry(database, on_publish=presence.account_changed),
        catalogue=PublishedCatalogue(database),
        key_uses=KeyUses(database, system.on_event),
        presence=presence,
        alarms=Alarms(),
        deadlines=Deadlines(clock),
        closings=Closings(),
        deliveries=Deliveries(outbound),
        bells=ResultsBells(),
        feed_rows=FeedRows(),
        activity=Activity(),
        clock_watch=ClockWatch(clock),
        database_watch=DatabaseWatch(),
    )


async def _wind_up(parts: Parts) -> None:
    with trio.CancelScope(shield=True):
        parts.bells.ring_all()
        await parts.deliveries.drain()
        parts.deliveries.outbound.close()
        await parts.key_uses.flush()
