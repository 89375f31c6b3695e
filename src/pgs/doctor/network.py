"""Checks of the listeners, and of the services that this one calls."""

import socket
from typing import Final
from urllib.parse import urlsplit

import trio

from pgs.config import BadSettings, Config
from pgs.doctor.finding import Finding
from pgs.domain.plurals import counted
from pgs.domain.service_urls import parse_service_url
from pgs.http.identity.discovery import discover
from pgs.http.identity.jwks import read_keys
from pgs.http.outbound.fetch import JsonClient, NotFetched
from pgs.http.outbound.settlement_client import read_token
from pgs.http.transport.server import bind
from pgs.operator.unix_socket import is_running

_WILDCARDS: Final = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104  compared, not bound
_PROBE: Final = "doctor"
"""The id of a charge that does not exist. Asking for it changes nothing at a settlement server."""

LOOK_UP_S: Final = 5.0
"""Seconds for a look-up: more than twice the 2 s that the service gives a nudge's look-up and
connection together. A slower look-up is a fault beyond doubt."""


async def service(config: Config) -> Finding:
    """Return whether a running service is ready, or whether its addresses are free for a start."""
    if not (config.data_dir.exists() and is_running(config.data_dir)):
        return _free_addresses(config)
    host, _, port = config.internal_listen.rpartition(":")
    url = f"http://{_WILDCARDS.get(host, host)}:{port}/internal/readyz"
    if parse_service_url(url) is None:
        return Finding("service", "skipped", f"it runs; ask http://{config.internal_listen}")
    try:
        answer = await JsonClient().fetch_json(url)
    except NotFetched as error:
        return Finding(
            "service",
            "problem",
            f"it runs, and its readiness at {config.internal_listen} does not answer: {error}",
            "see that PGS_INTERNAL_LISTEN is the one that the service was started with",
        )
    status = str(answer.body.get("status", ""))
    notes = [f"{name}: {note}" for name, note in answer.body.items() if name != "status"]
    found = "; ".join(["it runs", status, *notes])
    if answer.status != 200:
        return Finding("service", "problem", found, "docs/operations.md explains readyz's reasons")
    if notes:
        return Finding("service", "warning", found, "docs/operations.md says what each note means")
    return Finding("service", "ok", found)


def _free_addresses(config: Config) -> Finding:
    for setting, address in (
        ("PGS_LISTEN", config.listen),
        ("PGS_INTERNAL_LISTEN", config.internal_listen),
    ):
        try:
            bind(address).close()
        except (OSError, socket.gaierror) as error:
            return Finding(
                "service",
                "problem",
                f"it does not run, and cannot listen on {address}: {error.strerror}",
                f"end what listens there, or set {setting}",
            )
    found = f"it does not run; {config.listen} and {config.internal_listen} are free"
    return Finding("service", "ok", found)


def base_url(config: Config) -> Finding:
    """Return whether PGS_BASE_URL is set and is https.

    This setting is the URL at which partners and players reach the service.
    """
    if not config.base_url:
        return Finding(
            "base_url",
            "warning",
            f"PGS_BASE_URL is not set: players are told http://{config.listen}",
            "set PGS_BASE_URL to the address that the proxy in front has for partners",
        )
    secure = urlsplit(config.base_url).scheme == "https"
    if not secure:
        return Finding(
            "base_url",
            "warning",
            f"{config.base_url} is not https: browsers embed it in pages on this machine only",
            "put a proxy with TLS in front; deploy/ has samples",
        )
    return Finding("base_url", "ok", config.base_url)


async def identity_issuer(config: Config, client: JsonClient) -> Finding:
    """Return whether the issuer's keys can be fetched.

    The service fetches them in the same way at its start.
    """
    if not config.identity_issuer:
        return Finding(
            "identity_issuer",
            "warning",
            "PGS_IDENTITY_ISSUER is not set: nobody can sign in to the portal and the admin API",
            "docs/identity.md has the settings for common providers",
        )
    try:
        url = config.identity_jwks_url or await discover(config.identity_issuer, client.get)
        keys = read_keys(await client.get(url))
    except NotFetched as error:
        return Finding(
            "identity_issuer",
            "problem",
            f"the keys of {config.identity_issuer} cannot be fetched: {error}",
            "see that this machine reaches the issuer, and that PGS_IDENTITY_ISSUER is spelled as "
            "the `iss` of its tokens",
        )
    if not keys:
        return Finding(
            "identity_issuer",
            "problem",
            f"{url} has no key that can check a signature",
            "the issuer must sign with RS256, PS256, ES256, ES384 or EdDSA",
        )
    found = f"{config.identity_issuer}: {counted(len(keys), 'key')}"
    return Finding("identity_issuer", "ok", found)


async def settlement(config: Config, client: JsonClient) -> Finding:
    """Return whether the settlement server answers and accepts this service's token."""
    if not config.settlement_url or config.settlement_token_file is None:
        return Finding(
            "settlement",
            "skipped",
            "PGS_SETTLEMENT_URL is not set: the embedded settlement moves no real money",
        )
    try:
        token = read_token(config.settlement_token_file)
        status, _ = await client.fetch(
            f"{config.settlement_url.rstrip('/')}/charges/{_PROBE}",
            headers={"Authorization": f"Bearer {token}"},
        )
    except (BadSettings, NotFetched) as error:
        return Finding(
            "settlement",
            "problem",
            f"{config.settlement_url}: {error}",
            "until it answers, paid seats stay pending: docs/settlement.md",
        )
    if status in (401, 403):
        return Finding(
            "settlement",
            "problem",
            f"{config.settlement_url} refuses the token (status {status})",
            f"put the server's token into {config.settlement_token_file}",
        )
    if status >= 500:
        return Finding(
            "settlement",
            "problem",
            f"{config.settlement_url} answers with status {status}",
            "look at that server's log: until it answers, paid seats stay pending",
        )
    return Finding("settlement", "ok", f"{config.settlement_url} answers")


async def frame(config: Config, client: JsonClient) -> Finding:
    """Return whether the frame's document can be fetched from the address in the settings."""
    if not config.frame_url:
        return Finding("frame", "skipped", "PGS_FRAME_URL is not set: the frame is the package's")
    try:
        status, _ = await client.fetch(config.frame_url, accept="text/html")
    except NotFetched as error:
        status, why = 0, str(error)
    else:
        why = f"status {status}"
    if status != 200:
        return Finding(
            "frame",
            "problem",
            f"{config.frame_url}: {why}",
            "until it answers, /embed answers 502; leave PGS_FRAME_URL out to use the package's",
        )
    return Finding("frame", "ok", f"{config.frame_url} answers")


async def look_up(config: Config) -> Finding:
    """Return whether this machine looks up host names. Webhooks go to names, never to addresses."""
    url = config.base_url or config.identity_issuer or config.settlement_url
    host = (urlsplit(url).hostname or "") if url else ""
    if not host:
        return Finding("host_names", "skipped", "no setting names a host")
    try:
        with trio.fail_after(LOOK_UP_S):
            await trio.socket.getaddrinfo(host, 443, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, trio.TooSlowError) as error:
        why = (
            f"no answer within {LOOK_UP_S:.0f} s" if isinstance(error, trio.TooSlowError) else error
        )
        return Finding(
            "host_names",
            "problem",
            f"{host} cannot be looked up: {why}",
            "see /etc/resolv.conf: without look-ups no webhook is delivered",
        )
    return Finding("host_names", "ok", f"{host} was looked up")
