"""The pulse: a child task of a live seats actor that asks it for a wave each second."""

import trio

from pgs.actors.kernel.mail import Crashed, Overloaded
from pgs.actors.messages.seats import Wave
from pgs.actors.partners import PartnerActors
from pgs.domain.environments import Environment

WAVE_S = 1.0
"""Seconds between two waves. Long enough for several seats to gather, and so short that players
hardly notice the wait."""


class Pulse:
    """Asks for waves until the actor replies that there is nobody to pair.

    A pulse belongs to the actor that started it. After a restart the actor starts a new pulse, and
    tells the old one to end when the old one asks.
    """

    def __init__(self, partner: PartnerActors, environment: Environment) -> None:
        self._partner = partner
        self._environment: Environment = environment

    async def beat(self) -> None:
        """Ask for one wave after another; ask again if the actor could not answer."""
        wait_s: float | None = WAVE_S
        while wait_s is not None:
            await trio.sleep(wait_s)
            try:
                reply = await self._partner.seats(self._environment).ask(Wave(self))
            except (Overloaded, Crashed):
                wait_s = WAVE_S
            else:
                wait_s = reply.after_s
