"""Every JSON call and every WebSocket that the public listener serves, in one table."""

from collections.abc import Mapping
from typing import Final

from pgs.http import account, admin, billing, game, partner
from pgs.http.api.endpoint import Endpoint, SocketHandler

ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    *partner.ENDPOINTS,
    *account.ENDPOINTS,
    *billing.ENDPOINTS,
    *admin.ENDPOINTS,
    *game.ENDPOINTS,
)
"""One row for each JSON call. The dispatcher, the edge's body limits, the published reference and
tests read it."""

WEBSOCKETS: Final[Mapping[str, SocketHandler]] = {**game.SOCKETS}
"""The WebSockets, by path."""
