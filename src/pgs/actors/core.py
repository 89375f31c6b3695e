"""The service without its listeners. The HTTP surface and the operator's commands use it."""

import msgspec

from pgs.actors.maintenance.runner import ChoreRunner
from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts
from pgs.actors.ports import NodesPort
from pgs.storage.engines import KeptShards


class Core(msgspec.Struct, frozen=True):
    """A running core: the parts of the actors, the directory of actors, and the background work.

    `shards` are those of this node; None if the setting `node_name` is empty, which means that
    there are no other nodes. `nodes` sends commands to the other nodes. It is set only in the core
    that operators' commands use, and only if there are other nodes. `portal_url` is the portal's
    address; empty if it is not served, or not known.
    """

    parts: Parts
    directory: PartnerDirectory
    chores: ChoreRunner
    shards: KeptShards | None = None
    nodes: NodesPort | None = None
    portal_url: str = ""

    def link_of_invite(self, invite_id: str) -> str | None:
        """Return the address of the portal's page for an invite, or None without a portal."""
        return f"{self.portal_url}/join/{invite_id}" if self.portal_url else None
