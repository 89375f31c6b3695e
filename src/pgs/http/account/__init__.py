"""What callers with API keys and members read alike of their account, other than billing."""

from pgs.http.account import readiness
from pgs.http.api.endpoint import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = readiness.ENDPOINTS
