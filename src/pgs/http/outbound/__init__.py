"""Calls that the service makes to addresses which partners chose."""

from pgs.http.outbound.resolver import LimitedResolver
from pgs.http.outbound.tries import Outbound
from pgs.http.outbound.trust import trusted_roots

__all__ = ["LimitedResolver", "Outbound", "trusted_roots"]
