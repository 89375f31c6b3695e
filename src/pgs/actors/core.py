"""The service without its listeners. The HTTP surface and the operator's commands use it."""

import msgspec

from pgs.actors.maintenance.runner import ChoreRunner
from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts


class Core(msgspec.Struct, frozen=True):
    """A running core: the parts of the actors, the directory of actors, and the background work."""

    parts: Parts
    directory: PartnerDirectory
    chores: ChoreRunner
