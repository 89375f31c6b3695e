"""The service without its listeners. The HTTP surface and the operator's commands use it."""

import msgspec

from pgs.actors.maintenance.runner import ChoreRunner
from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts
from pgs.actors.ports import NodesPort
from pgs.storage.engines import KeptShards


class Core(msgspec.Struct, frozen=True):
    """A running core: the parts of the actors, the directory of actors, and the background work.

    `shards` are those of this node; None if it is the only one. `nodes` reaches the other nodes;
    None if there are none, and for a command that came from one of them.
    """

    parts: Parts
    directory: PartnerDirectory
    chores: ChoreRunner
    shards: KeptShards | None = None
    nodes: NodesPort | None = None
