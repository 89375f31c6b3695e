"""Every JSON call and every WebSocket that the public listener serves, in one table."""

from collections.abc import Mapping
from typing import Final

from pgs.http import admin, game, partner
from pgs.http.api.endpoint import Endpoint, SocketHandler

ENDPOINTS: Final[tuple[Endpoint, ...]] = (*partner.ENDPOINTS, *admin.ENDPOINTS, *game.ENDPOINTS)
"""Every JSON call, a row each. The dispatcher, the body limits, the documents and tests read it."""

WEBSOCKETS: Final[Mapping[str, SocketHandler]] = {**game.SOCKETS}
"""The WebSockets, by path."""
