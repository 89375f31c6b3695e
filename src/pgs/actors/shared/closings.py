"""Which partners' play is being closed right now, and by how many callers.

Play means the open seats and running matches of a partner in one environment.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pgs.domain.environments import Environment


class Closings:
    """The closings under way.

    While a closing is under way, maintenance does not close the same play: the caller reports how
    many seats and matches the closing ended, and that count must be right.
    """

    def __init__(self) -> None:
        self._under_way: Counter[tuple[str, Environment]] = Counter()
        self._finishing: set[tuple[str, Environment]] = set()

    @contextmanager
    def begun(self, partner_id: str, environments: Sequence[Environment]) -> Iterator[None]:
        """Mark a closing as under way while a block runs.

        Enter the block before the commit of the deactivation or the emergency stop.
        """
        plays = [(partner_id, environment) for environment in environments]
        self._under_way.update(plays)
        try:
            yield
        finally:
            self._under_way.subtract(plays)
            self._under_way = +self._under_way  # drops the entries whose count is zero

    def under_way(self, partner_id: str, environment: Environment) -> bool:
        """Return whether a closing of the partner's play is under way."""
        return self._under_way[partner_id, environment] > 0

    @contextmanager
    def finishing(self, partner_id: str, environment: Environment) -> Iterator[None]:
        """Mark, while a block runs, that maintenance is closing the play."""
        play = (partner_id, environment)
        self._finishing.add(play)
        try:
            yield
        finally:
            self._finishing.discard(play)

    def is_finishing(self, partner_id: str, environment: Environment) -> bool:
        """Return whether maintenance is closing the play."""
        return (partner_id, environment) in self._finishing
