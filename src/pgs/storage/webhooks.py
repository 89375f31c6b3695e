"""Reads webhook endpoints, and builds the statements that write them."""

from typing import Any

import msgspec

from pgs.domain.accounts import Webhook
from pgs.domain.environments import Environment
from pgs.domain.secrets import HidesSecrets
from pgs.storage.reader import Reader
from pgs.storage.transactions import Stmt


async def find_webhook(reader: Reader, partner_id: str, environment: Environment) -> Webhook | None:
    """Return a partner's endpoint in an environment, without its secret; or None."""
    row = await reader.one("webhooks.find_webhook", partner_id=partner_id, environment=environment)
    if row is None:
        return None
    url, enabled, failures, created_at, rotated_at, disabled_at = row
    return Webhook(url, bool(enabled), failures, created_at, rotated_at, disabled_at)


class Endpoint(HidesSecrets, msgspec.Struct, frozen=True):
    """An endpoint as its courier needs it.

    `saved_seq` rises whenever the URL is saved, which also sets `consecutive_failures` to 0.
    """

    SECRETS = frozenset({"sealed_secret"})

    url: str
    enabled: bool
    consecutive_failures: int
    saved_seq: int
    sealed_secret: str


async def find_endpoint(
    reader: Reader, partner_id: str, environment: Environment
) -> Endpoint | None:
    """Return a partner's endpoint in an environment, with its sealed secret; or None."""
    row = await reader.one("webhooks.find_endpoint", partner_id=partner_id, environment=environment)
    return Endpoint(row[0], bool(row[1]), *row[2:]) if row else None


async def failing_endpoints(
    reader: Reader, failures: int, page_size: int
) -> list[tuple[str, Environment]]:
    """Return partners and environments of endpoints that are on but keep failing.

    Their number of failures in a row is `failures` or more.
    """
    rows = await reader.all("webhooks.failing_endpoints", failures=failures, page_size=page_size)
    return [(partner_id, environment) for partner_id, environment in rows]


def set_failures(partner_id: str, environment: Environment, saved_seq: int, failures: int) -> Stmt:
    """Return the statement that stores the number of failures in a row.

    It conflicts if the endpoint has been saved since `saved_seq`, or is switched off.
    """
    params: dict[str, Any] = {
        "partner_id": partner_id,
        "environment": environment,
        "saved_seq": saved_seq,
        "failures": failures,
    }
    return Stmt("webhooks.set_failures", params, 1)


def rotate_secret(partner_id: str, environment: Environment, sealed_secret: str, at: int) -> Stmt:
    """Return the statement that replaces the signing secret."""
    params: dict[str, Any] = {
        "partner_id": partner_id,
        "environment": environment,
        "sealed_secret": sealed_secret,
        "at": at,
    }
    return Stmt("webhooks.rotate_secret", params, 1)


def disable(partner_id: str, environment: Environment, at: int) -> Stmt:
    """Return the statement that switches an endpoint off."""
    return Stmt(
        "webhooks.disable_webhook",
        {"partner_id": partner_id, "environment": environment, "at": at},
        1,
    )


def insert_webhook(
    partner_id: str, environment: Environment, url: str, sealed_secret: str, at: int
) -> Stmt:
    """Return the statement that adds an endpoint, switched on."""
    return Stmt(
        "webhooks.insert_webhook",
        {
            "partner_id": partner_id,
            "environment": environment,
            "url": url,
            "sealed_secret": sealed_secret,
            "created_at": at,
            "secret_rotated_at": at,
        },
        1,
    )


def save_url(partner_id: str, environment: Environment, url: str) -> Stmt:
    """Return the statement that saves an endpoint's URL and switches it on.

    The number of failures in a row becomes 0; the secret stays.
    """
    return Stmt(
        "webhooks.save_webhook_url",
        {"partner_id": partner_id, "environment": environment, "url": url},
        1,
    )
