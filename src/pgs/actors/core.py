"""The service without its listeners: what the HTTP surface and the operator's commands drive."""

import msgspec

from pgs.actors.maintenance.runner import ChoreRunner
from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts


class Core(msgspec.Struct, frozen=True):
    """A running core: what the actors work with, their addresses, and the background work."""

    parts: Parts
    directory: PartnerDirectory
    chores: ChoreRunner
