"""The key-authenticated interface: one module for each noun, each with its endpoints and their handlers."""

from pgs.http.api.endpoint import Endpoint
from pgs.http.partner import decide, matches, me, results, seats, sessions, tiers

ENDPOINTS: tuple[Endpoint, ...] = (
    *me.ENDPOINTS,
    *sessions.ENDPOINTS,
    *seats.ENDPOINTS,
    *matches.ENDPOINTS,
    *tiers.ENDPOINTS,
    *results.ENDPOINTS,
    *decide.ENDPOINTS,
)
