"""What handlers work with: the core, and this deployment's address and settings."""

from collections.abc import Callable

import msgspec

from pgs.actors.core import Core
from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts
from pgs.domain.environments import Environment
from pgs.domain.shards import shard_of
from pgs.http.nodes.owners import NotHere, Owners


def _ignore(endpoint: str, status: int, seconds: float) -> None:
    """Ignore an answered call."""


class Services(msgspec.Struct, frozen=True):
    """Everything that a handler may use.

    `restricted_to` is the environment of a deployment that serves only one. For each answered call,
    `on_request` gets the endpoint's path as declared, the status, and the seconds that it took.
    `owners` tells which node owns which shard; None for an installation of one node.
    """

    core: Core
    base_url: str
    restricted_to: Environment | None = None
    on_request: Callable[[str, int, float], None] = _ignore
    owners: Owners | None = None

    @property
    def parts(self) -> Parts:
        """What the actors work with."""
        return self.core.parts

    @property
    def directory(self) -> PartnerDirectory:
        """The addresses of the actors."""
        return self.core.directory

    def is_here(self, partner_id: str) -> bool:
        """Return whether this node may answer for the partner now."""
        return self.owners is None or self.owners.owner_of(shard_of(partner_id)) is self.owners.me

    def check_here(self, partner_id: str) -> None:
        """Raise `NotHere` if this node does not own the partner.

        It is for requests whose head does not name the partner. Call it before the body is read.
        """
        if not self.is_here(partner_id):
            raise NotHere(shard_of(partner_id))
