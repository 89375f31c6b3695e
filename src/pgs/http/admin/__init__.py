"""The admin API: how a partner's members, signed in with an identity token, manage the account.

Each noun has a module with its endpoints and handlers.
"""

from pgs.http.admin import (
    account,
    api_version,
    emergency_stop,
    events,
    games,
    invites,
    keys,
    live,
    matches,
    members,
    origins,
    prices,
    rake_terms,
    seats,
    test_match,
    theme,
    tiers,
    totp,
    webhooks,
)
from pgs.http.api.endpoint import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (
    *account.ENDPOINTS,
    *emergency_stop.ENDPOINTS,
    *rake_terms.ENDPOINTS,
    *api_version.ENDPOINTS,
    *keys.ENDPOINTS,
    *origins.ENDPOINTS,
    *prices.ENDPOINTS,
    *tiers.ENDPOINTS,
    *webhooks.ENDPOINTS,
    *theme.ENDPOINTS,
    *members.ENDPOINTS,
    *invites.ENDPOINTS,
    *totp.ENDPOINTS,
    *games.ENDPOINTS,
    *events.ENDPOINTS,
    *live.ENDPOINTS,
    *matches.ENDPOINTS,
    *seats.ENDPOINTS,
    *test_match.ENDPOINTS,
)
"""The calls that only the admin API has. The reads that callers with an API key can make too are in
`pgs.http.account` and `pgs.http.billing`. `pgs.domain.roles.ADMIN_RULES` says who may make which
call of the admin API."""
