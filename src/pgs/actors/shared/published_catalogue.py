"""The published catalogue that every call reads: tiers, their locks, the rake terms on offer."""

import trio

from pgs.actors.shared.snapshots import Age
from pgs.domain.tiers import TierCatalogue
from pgs.storage import tiers as rows
from pgs.storage.bulk import read_in_bulk
from pgs.storage.database import Database


class PublishedCatalogue:
    """The catalogue as last read or written. The catalogue actor publishes what it commits."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.age = Age()
        self._catalogue: TierCatalogue | None = None
        self._revision = 0  # how often the actor has published

    def published(self, now: float) -> TierCatalogue | None:
        """Return the catalogue, or None when its rows have been unreadable for too long."""
        return None if self.age.is_closed(now) else self._catalogue

    async def current(self) -> TierCatalogue:
        """Return the catalogue, however old it is. If there is none yet, read it.

        Raises `ReadFailed` if that fails.
        """
        if self._catalogue is None:
            self._catalogue = await rows.read_catalogue(self._database.reader)
        return self._catalogue

    def publish(self, catalogue: TierCatalogue) -> None:
        """Show a committed catalogue to every call from now on."""
        self._catalogue = catalogue
        self._revision += 1

    async def refresh(self) -> None:
        """Read the catalogue again. Raises `StoreOutage`; the catalogue then stays as it was."""
        read_at, revision = trio.current_time(), self._revision
        catalogue = await read_in_bulk(self._database, rows.read_catalogue)
        if revision == self._revision:  # nothing newer was published during the read
            self._catalogue = catalogue
        self.age.renew(read_at)
