"""What is known of the database: its losses, what the last check found, cursors ahead of a feed."""

import msgspec

from pgs.domain.environments import Environment
from pgs.domain.plurals import counted


class CheckResult(msgspec.Struct, frozen=True):
    """The result of a check of the database: when it ended, in epoch seconds, and what it found."""

    at: int
    faults: tuple[str, ...]


class DatabaseWatch:
    """The last findings. Each is replaced in one step, so readers never see half of one."""

    def __init__(self) -> None:
        self.lost: str | None = None
        self.last_check: CheckResult | None = None
        self._rewound: set[tuple[str, Environment]] = set()

    def note_lost(self, lost: str | None) -> bool:
        """Note what the database has lost (None: nothing); return whether to report it."""
        news = lost is not None and self.lost is None
        self.lost = lost
        return news

    def note_rewound(self, partner_id: str, environment: Environment) -> bool:
        """Note that a cursor is ahead of a feed; return True the first time, to report it."""
        news = (partner_id, environment) not in self._rewound
        self._rewound.add((partner_id, environment))
        return news

    def forget_rewound(self, partner_id: str, environment: Environment) -> None:
        """Forget that a cursor is ahead of a feed, so that the next such cursor is reported."""
        self._rewound.discard((partner_id, environment))

    def fault(self) -> str | None:
        """Return what an operator should know of the last check, or None."""
        if self.last_check is None or not self.last_check.faults:
            return None
        return (
            f"the last check found {counted(len(self.last_check.faults), 'fault')}, the first: "
            f"{self.last_check.faults[0]}; see docs/operations.md"
        )
