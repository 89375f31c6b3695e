"""The document for one partner and environment, and the policy that it is served under. Pure."""

import html
from collections.abc import Sequence
from typing import Final

import msgspec

from pgs.domain.environments import Environment

NONCE_MARK: Final = "%PGS_NONCE%"
"""Stands in a template where a script or a style sheet carries the nonce of its document."""

DATA_MARK: Final = "%PGS_FRAME%"
"""Stands in a template, in an attribute in double quotes, where the frame reads whose it is and whom it may listen to."""


class FrameData(msgspec.Struct, frozen=True, rename="camel"):
    """What the document tells the frame in it. No secret: the same is in the address and in the policy's header."""

    partner_id: str
    environment: Environment
    origins: tuple[str, ...]


def fill(template: str, nonce: str, data: FrameData) -> str:
    """Return the document: the template with its marks replaced, wherever they stand."""
    return template.replace(NONCE_MARK, nonce).replace(
        DATA_MARK, html.escape(msgspec.json.encode(data).decode(), quote=True)
    )


def content_security_policy(nonce: str, origins: Sequence[str], base_url: str) -> str:
    """Return the policy: only `origins` frame the document, only what carries the nonce runs, and it speaks to this service alone.

    Older browsers do not count a WebSocket to the own host as `'self'`, so its address under `base_url` stands beside it.
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
