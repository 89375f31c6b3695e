"""What a courier knows of its webhook endpoint."""

import msgspec
import structlog

from pgs.actors.account.webhooks import webhook_context
from pgs.actors.parts import Parts
from pgs.domain.environments import Environment
from pgs.domain.nudges import disables_endpoint
from pgs.domain.sealed import open_sealed
from pgs.domain.secrets import HidesSecrets
from pgs.storage import webhooks as rows

log = structlog.get_logger("pgs.courier")


class KnownEndpoint(HidesSecrets, msgspec.Struct, frozen=True):
    """A webhook endpoint as its courier last read it.

    `secret` is the signing secret, or None if no key on the ring opens the sealed secret.
    """

    SECRETS = frozenset({"secret"})

    row: rows.Endpoint
    secret: str | None

    @property
    def has_failed_too_often(self) -> bool:
        """Whether the endpoint is still enabled after too many failures in a row."""
        return self.row.enabled and disables_endpoint(self.row.consecutive_failures)

    @property
    def is_on(self) -> bool:
        """Whether the endpoint may get nudges.

        After ten failures in a row it may not, even if its row is enabled.
        """
        return self.row.enabled and not self.has_failed_too_often


async def read_endpoint(
    parts: Parts, partner_id: str, environment: Environment
) -> KnownEndpoint | None:
    """Return the endpoint of a partner's environment, with its secret opened, or None."""
    row = await rows.find_endpoint(parts.database.reader, partner_id, environment)
    if row is None:
        return None
    context = webhook_context(partner_id, environment)
    secret = open_sealed(parts.ring, row.sealed_secret, context)
    if secret is None:
        # Without a secret, only the nudges of this endpoint stop. An exception would count as a
        # crash, and after a few crashes the partner would be degraded.
        parts.on_event("webhook_secret_unreadable")
        log.error("webhook_secret_unreadable", partner_id=partner_id, environment=environment)
    return KnownEndpoint(row, None if secret is None else secret.decode())
