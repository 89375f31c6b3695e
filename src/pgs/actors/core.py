"""The service without its listeners: what the HTTP surface, the operator's commands and load tests drive."""

from typing import TypeVar

import msgspec

from pgs.actors.kernel.mail import Command
from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts
from pgs.actors.seating.closing import close_play, switch_off, switch_on
from pgs.domain.environments import ENVIRONMENTS

R = TypeVar("R")


class Core(msgspec.Struct, frozen=True):
    """Every actor's parts, and the directory of the partners' houses."""

    parts: Parts
    directory: PartnerDirectory

    async def close_play(self, partner_id: str, end_reason: str) -> int:
        """Return how many seats and matches of a partner were ended, in both environments."""
        partner = self.directory.partner(partner_id)
        return sum(
            [await close_play(partner, environment, end_reason) for environment in ENVIRONMENTS]
        )

    async def switch_off(self, partner_id: str, mark: Command[R]) -> tuple[R, int]:
        """Return the reply to the command that switches an account off, and how many seats and matches were ended, in both environments."""
        return await switch_off(self.directory.partner(partner_id), mark)

    async def switch_on(self, partner_id: str, mark: Command[R]) -> R:
        """Return the reply to the command that switches an account on."""
        return await switch_on(self.directory.partner(partner_id), mark)
