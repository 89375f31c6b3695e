"""A client of the Partner Game Service for partners' backends.

`Client` is for threads; `pgs_client.trio_client.TrioClient` has the same methods for trio. The
errors are in `pgs_client.errors`, the records in `pgs_client.records`.
"""

from pgs_client.client import Client
from pgs_client.errors import NoAnswer, PgsError, ServiceError, UnexpectedAnswer
from pgs_client.flows import Retries, Timeouts
from pgs_client.settings import new_idempotency_key
from pgs_client.store import FeedStore, SqliteStore
from pgs_client.webhooks import InvalidSignature, Nudge, verify_webhook

__all__ = [
    "Client",
    "FeedStore",
    "InvalidSignature",
    "NoAnswer",
    "Nudge",
    "PgsError",
    "Retries",
    "ServiceError",
    "SqliteStore",
    "Timeouts",
    "UnexpectedAnswer",
    "new_idempotency_key",
    "verify_webhook",
]
