"""The partner API, called with API keys. Each noun has a module with its endpoints and handlers."""

from pgs.http.api.endpoint import Endpoint
from pgs.http.partner import decide, matches, me, results, seats, sessions, theme, tiers

ENDPOINTS: tuple[Endpoint, ...] = (
    *me.ENDPOINTS,
    *sessions.ENDPOINTS,
    *seats.ENDPOINTS,
    *matches.ENDPOINTS,
    *tiers.ENDPOINTS,
    *results.ENDPOINTS,
    *decide.ENDPOINTS,
    *theme.ENDPOINTS,
)
