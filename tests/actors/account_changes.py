"""What a command changes in an account: its event log, its revision, and its row."""

import json
from typing import Any

from pgs.storage import accounts as rows
from tests.actors.raw_rows import select
from tests.actors.ready_core import ReadyCore


def events(s: ReadyCore, partner: str = "acme") -> list[tuple[str, str, dict[str, Any], int]]:
    """Return the event log, the oldest first: actor, action, detail, time."""
    found = select(
        s,
        "select actor, action, detail, at, seq from event where partner_id = ? order by seq",
        partner,
    )
    assert [row[4] for row in found] == list(range(1, len(found) + 1))
    return [(row[0], row[1], json.loads(row[2]), row[3]) for row in found]


def events_of(
    s: ReadyCore, action: str, partner: str = "acme"
) -> list[tuple[str, dict[str, Any], int]]:
    """Return actor, detail and time of the events of an action, the oldest first."""
    return [(actor, detail, at) for actor, done, detail, at in events(s, partner) if done == action]


class Change:
    """Checks that a block makes these events, a revision for each, and nothing else.

    Rows and registry must agree afterwards.
    """

    def __init__(self, s: ReadyCore, *expected: tuple[str, str, dict[str, Any]]) -> None:
        self._s = s
        self._expected = expected

    async def __aenter__(self) -> None:
        self._revision = self._s.account().revision
        self._events = len(events(self._s))

    async def __aexit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is not None:
            return
        new = [
            (actor, action, detail) for actor, action, detail, _ in events(self._s)[self._events :]
        ]
        assert new == list(self._expected)
        assert self._s.account().revision == self._revision + len(self._expected)
        await check_published(self._s)


def nothing(s: ReadyCore) -> Change:
    """Check that a block changes nothing."""
    return Change(s)


async def check_published(s: ReadyCore) -> None:
    """Check that rows and registry agree on the account."""
    assert await rows.read_account(s.reader, "acme") == s.account()
