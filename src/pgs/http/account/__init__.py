"""What an account still needs before it can play. API keys and members can read this."""

from pgs.http.account import readiness
from pgs.http.api.endpoint import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = readiness.ENDPOINTS
