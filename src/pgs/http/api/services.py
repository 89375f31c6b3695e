"""What handlers work with: the actors' parts, the directory, and how this deployment presents itself."""

from collections.abc import Callable

import msgspec

from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts
from pgs.domain.environments import Environment
from pgs.domain.versions import ServedVersions


class Services(msgspec.Struct, frozen=True):
    """Everything a handler may reach. `restricted_to`: the one environment of a single-environment deployment.

    `on_request` is told of every answered call: the endpoint's path as declared, the status, the seconds.
    """

    parts: Parts
    directory: PartnerDirectory
    versions: ServedVersions
    base_url: str
    restricted_to: Environment | None
    on_request: Callable[[str, int, float], None]
