"""The document for one partner and environment, and its Content-Security-Policy. Pure."""

import html
from collections.abc import Sequence
from typing import Final

import msgspec

from pgs.domain.environments import Environment

NONCE_MARK: Final = "%PGS_NONCE%"
"""The mark in a template for the document's nonce, on scripts and style sheets."""

DATA_MARK: Final = "%PGS_FRAME%"
"""The mark in a template for the JSON of `FrameData`, inside an attribute in double quotes."""


class FrameData(msgspec.Struct, frozen=True, rename="camel"):
    """What the document tells its script. Nothing of it is secret."""

    partner_id: str
    environment: Environment
    origins: tuple[str, ...]


def fill(template: str, nonce: str, data: FrameData) -> str:
    """Return the document: the template with all its marks replaced."""
    return template.replace(NONCE_MARK, nonce).replace(
        DATA_MARK, html.escape(msgspec.json.encode(data).decode(), quote=True)
    )


def content_security_policy(nonce: str, origins: Sequence[str], base_url: str) -> str:
    """Return the policy's header value.

    Only `origins` may frame the document, only what carries the nonce runs, and it connects only to
    this service. Older browsers do not count a WebSocket to the same host as `'self'`, so that the
    WebSocket's address is named too.
    """
    socket = base_url.replace("http", "ws", 1)
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'nonce-{nonce}'",
            f"style-src 'nonce-{nonce}'",
            "img-src data:",
            f"connect-src 'self' {socket}",
            "base-uri 'none'",
            "form-action 'none'",
            f"frame-ancestors {' '.join(origins)}",
        )
    )
