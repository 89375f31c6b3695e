"""Where an issuer publishes its keys, by OpenID Connect Discovery 1.0."""

from typing import Final

from pgs.domain.service_urls import parse_service_url
from pgs.http.outbound.fetch import Fetch, NotFetched

WELL_KNOWN: Final = "/.well-known/openid-configuration"


def is_issuer(text: str) -> bool:
    """Return whether `text` can be an issuer: a service's URL to which a path can be appended."""
    return parse_service_url(text) is not None and "?" not in text


def may_hold_keys(url: str, issuer: str) -> bool:
    """Return whether the issuer's keys may be fetched from `url`.

    They may over https, and over http on this machine if the issuer itself is there.
    """
    target, source = parse_service_url(url), parse_service_url(issuer)
    return target is not None and source is not None and (target.secure or not source.secure)


async def discover(issuer: str, fetch: Fetch) -> str:
    """Return the URL of the issuer's key set. Raises NotFetched.

    The document must name exactly this issuer (section 4.3). Otherwise the server of one issuer's
    document could stand in for another issuer.
    """
    document = await fetch(issuer.rstrip("/") + WELL_KNOWN)
    if document.get("issuer") != issuer:
        raise NotFetched("the discovery document is another issuer's")
    url = document.get("jwks_uri")
    if not isinstance(url, str) or not may_hold_keys(url, issuer):
        raise NotFetched("the discovery document gives no address of keys that may be used")
    return url
