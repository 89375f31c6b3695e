"""Finds the URL of an issuer's keys, by OpenID Connect Discovery 1.0."""

from typing import Final

from pgs.domain.service_urls import parse_service_url
from pgs.http.outbound.fetch import Fetch, NotFetched

WELL_KNOWN: Final = "/.well-known/openid-configuration"


def is_issuer(text: str) -> bool:
    """Return whether `text` can be an issuer: a service's URL without a query.

    The path of the discovery document is appended to it.
    """
    return parse_service_url(text) is not None and "?" not in text


def may_hold_keys(url: str, issuer: str) -> bool:
    """Return whether the issuer's keys may be fetched from `url`.

    https is always allowed. http on this machine is allowed only if the issuer's URL is http too.
    """
    target, source = parse_service_url(url), parse_service_url(issuer)
    return target is not None and source is not None and (target.secure or not source.secure)


async def discover(issuer: str, fetch: Fetch) -> str:
    """Return the URL of the issuer's key set. Raises NotFetched.

    The document must name exactly this issuer (section 4.3), so that one issuer cannot pose as
    another.
    """
    document = await fetch(issuer.rstrip("/") + WELL_KNOWN)
    named = document.get("issuer")
    if named != issuer:
        alike = isinstance(named, str) and named.rstrip("/") == issuer.rstrip("/")
        raise NotFetched(
            "the discovery document's issuer differs only by the slash at the end"
            if alike
            else "the discovery document is another issuer's"
        )
    url = document.get("jwks_uri")
    if not isinstance(url, str) or not may_hold_keys(url, issuer):
        raise NotFetched("the discovery document gives no address of keys that may be used")
    return url
