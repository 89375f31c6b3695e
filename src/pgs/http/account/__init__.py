"""What both API keys and members can read of their account, except billing."""

from pgs.http.account import readiness
from pgs.http.api.endpoint import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = readiness.ENDPOINTS
