"""What every actor works with: the database, the ports and the shared registers."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from pgs.actors.kernel.system import System
from pgs.actors.shared.activity import Activity
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
from pgs.clock import Clock, Rng
from pgs.domain.ids import Ids
from pgs.domain.keyring import KeyRing
from pgs.domain.versions import ServedVersions
from pgs.games.rules import Rules
from pgs.keyfile import KeyFile
from pgs.storage.database import Database


class Parts(msgspec.Struct, frozen=True):
    """The parts, built once in `pgs.app`. `games` holds the installed games by id."""

    system: System
    database: Database
    clock: Clock
    rng: Rng
    ids: Ids
    keys: KeyFile
    games: Mapping[str, Rules]
    versions: ServedVersions
    settlements: Settlements
    open_money: OpenMoney
    registry: Registry
    catalogue: PublishedCatalogue
    key_uses: KeyUses
    presence: PresenceRegister
    alarms: Alarms
    deadlines: Deadlines
    closings: Closings
    deliveries: Deliveries
    bells: ResultsBells
    feed_rows: FeedRows[Any]
    activity: Activity
    clock_watch: ClockWatch
    database_watch: DatabaseWatch

    @property
    def on_event(self) -> Callable[[str], None]:
        """The function that counts an event by its name."""
        return self.system.on_event

    @property
    def ring(self) -> KeyRing:
        """The keys that sign and seal, the current one first."""
        return self.keys.ring

    def new_id(self, prefix: str) -> str:
        """Return a new id that begins with the prefix."""
        return self.ids.new(prefix)
