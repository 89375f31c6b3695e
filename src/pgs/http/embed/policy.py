"""Makes the document for one partner and environment, and says which pages may embed it."""

import html
from collections.abc import Sequence
from typing import Final

import msgspec

from pgs.domain.environments import Environment
from pgs.http.api.themes import FrameTheme

NONCE_MARK: Final = "%PGS_NONCE%"
"""The mark in a template for the document's nonce, on scripts and style sheets."""

DATA_MARK: Final = "%PGS_FRAME%"
"""The mark in a template for the JSON of `FrameData`, inside an attribute in double quotes."""


class FrameData(msgspec.Struct, frozen=True, rename="camel"):
    """What the document tells its script. None of it is secret."""

    partner_id: str
    environment: Environment
    origins: tuple[str, ...]
    theme: FrameTheme


def fill(template: str, nonce: str, data: FrameData) -> str:
    """Return the document: the template with all its marks replaced."""
    return template.replace(NONCE_MARK, nonce).replace(
        DATA_MARK, html.escape(msgspec.json.encode(data).decode(), quote=True)
    )


def frame_ancestors(origins: Sequence[str], *, portal: bool) -> Sequence[str]:
    """Return which web pages may embed the document: those of `origins`, or only the portal's.

    `portal`: the document is the portal's. Then `origins` does not count.
    """
    return ("'self'",) if portal else origins


def content_security_policy(nonce: str, ancestors: Sequence[str], base_url: str) -> str:
    """Return the policy's header value.

    Only `ancestors` may frame the document, and only scripts and style sheets with the nonce are
    used. The document connects only to this service, which also serves the logo. Its WebSocket
    address is named too, because older browsers do not count it as `'self'`.
    """
    socket = base_url.replace("http", "ws", 1)
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'nonce-{nonce}'",
            f"style-src 'nonce-{nonce}'",
            f"img-src 'self' {base_url} data:",
            f"connect-src 'self' {socket}",
            "base-uri 'none'",
            "form-action 'none'",
            f"frame-ancestors {' '.join(ancestors)}",
        )
    )
