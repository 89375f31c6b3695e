"""The service without its listeners: what the HTTP surface, the operator's commands and load tests drive."""

import msgspec

from pgs.actors.closing import close_play
from pgs.actors.house import Directory, Parts
from pgs.domain.environments import ENVIRONMENTS


class Core(msgspec.Struct, frozen=True):
    """Every actor's parts, and the directory of the partners' houses."""

    parts: Parts
    directory: Directory

    async def close_play(self, partner_id: str, end_reason: str) -> int:
        """Return how many seats and matches of a partner were ended, in both environments."""
        house = self.directory.house(partner_id)
        return sum([await close_play(house, environment, end_reason) for environment in ENVIRONMENTS])
