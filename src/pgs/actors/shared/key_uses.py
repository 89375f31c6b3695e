"""When keys were last used.

Every call notes the time in memory. A chore writes the times to rows, so no call waits for a
commit.
"""

from collections.abc import Callable

import structlog
import trio

from pgs.storage.database import Database
from pgs.storage.key_uses import key_uses_of, put_key_use
from pgs.storage.transactions import StoreOutage, Tx, WriterFull

ROUND_S = 60.0
"""Seconds between two searches for keys whose last use has to be written. The admin API shows the
uses in memory, so nobody sees the delay."""

FLUSH_S = 1.0
"""Seconds that a stop gives the last write of uses. If that write fails, at most the uses of the
last hour are lost. Part of the 15 s that a stop may take."""

COARSE_S = 3600
"""Seconds between two writes of the same key's row. A crash loses at most the uses of the last
hour."""

log = structlog.get_logger("pgs.key_uses")


def _every_partner(partner_id: str) -> bool:
    return True


class KeyUses:
    """The last use of every key: exact for keys used since the start, else as in the key's row."""

    def __init__(self, database: Database, on_event: Callable[[str], None]) -> None:
        self._database = database
        self._on_event = on_event
        self._used: dict[
            tuple[str, str], int
        ] = {}  # partner id and key id → epoch seconds, for keys used since the start
        self._written: dict[tuple[str, str], int] = {}

    def note(self, partner_id: str, key_id: str, at: int) -> None:
        """Note that a key has authenticated at `at`, in epoch seconds."""
        self._used[partner_id, key_id] = at

    async def of(self, partner_id: str, key_ids: tuple[str, ...]) -> dict[str, int]:
        """Return when a partner's keys were last used, in epoch seconds by key id.

        Keys that were never used are left out. Raises `ReadFailed`.
        """
        known = await key_uses_of(self._database.reader, partner_id)
        for key_id in key_ids:
            used_at = self._used.get((partner_id, key_id))
            if used_at is not None:
                known[key_id] = used_at
        return known

    def forget(self, belongs: Callable[[str], bool]) -> None:
        """Forget the uses of these partners' keys."""
        for kept in (self._used, self._written):
            for key in [key for key in kept if belongs(key[0])]:
                del kept[key]

    async def write(
        self, coarse_s: int = COARSE_S, belongs: Callable[[str], bool] = _every_partner
    ) -> None:
        """Write the last use of each key.

        If this process has written a use of a key before, it writes the key again only if the last
        use is more than `coarse_s` seconds later than the written one. Partners for which `belongs`
        is false are left out. A partner's uses are one transaction. Raises what the store raises.
        """
        due: dict[str, dict[str, int]] = {}
        for (partner_id, key_id), used_at in self._used.items():
            written_at = self._written.get((partner_id, key_id))
            if written_at is None or used_at > written_at + coarse_s:
                due.setdefault(partner_id, {})[key_id] = used_at
        for partner_id, uses in due.items():
            if not belongs(partner_id):  # another node may have taken the partner over meanwhile
                continue
            stmts = tuple(
                put_key_use(partner_id, key_id, used_at) for key_id, used_at in uses.items()
            )
            await self._database.writer.submit(Tx(partner_id, stmts))
            self._written.update(
                {(partner_id, key_id): used_at for key_id, used_at in uses.items()}
            )

    async def flush(self, belongs: Callable[[str], bool] = _every_partner) -> None:
        """Write every use that is not in rows yet, within `FLUSH_S`.

        If the database fails or the writer is full, this is logged, not raised.
        """
        with trio.move_on_after(FLUSH_S):
            try:
                await self.write(0, belongs)
            except (StoreOutage, WriterFull):
                self._on_event("key_uses_unwritten")
                log.exception("key_uses_unwritten")
