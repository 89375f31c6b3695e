"""The player-facing Game API: the session, joining a match, and the socket. A session token authenticates; no path carries a version.

Its calls and handshakes draw from the bucket that bounds the whole process, and from no other: a player's frames must not use up the
budget of the partner's backend.
"""

from collections.abc import Mapping
from typing import Final

from pgs.http.api.endpoint import Endpoint, SocketHandler
from pgs.http.game import join, session
from pgs.http.game.socket import game_socket

ENDPOINTS: tuple[Endpoint, ...] = (*session.ENDPOINTS, *join.ENDPOINTS)

SOCKETS: Final[Mapping[str, SocketHandler]] = {"/game/socket": game_socket}
"""The WebSockets by path."""
