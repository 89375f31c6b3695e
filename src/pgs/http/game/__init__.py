"""The player-facing Game API: the session, joining a match, and the socket.

Calls authenticate with a session token, and paths contain no version. Calls and handshakes draw
from three buckets: the player's, one that all players of the partner share, and the one of the
whole process. So the frames of players do not use up the rate limit of the partner's backend.
"""

from collections.abc import Mapping
from typing import Final

from pgs.http.api.endpoint import Endpoint, SocketHandler
from pgs.http.game import join, session
from pgs.http.game.socket import game_socket

ENDPOINTS: tuple[Endpoint, ...] = (*session.ENDPOINTS, *join.ENDPOINTS)

SOCKETS: Final[Mapping[str, SocketHandler]] = {"/game/socket": game_socket}
"""The WebSockets by path."""
