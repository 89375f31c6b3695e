"""One try at delivering a nudge, from the look-up to the last byte that is read of the response."""

import re
import ssl
from collections.abc import Callable, Mapping
from typing import Final

import httpcore
import trio

from pgs.domain.ip_addresses import is_public
from pgs.domain.nudges import TryOutcome, response_text
from pgs.http.outbound.backend import PinnedBackend
from pgs.http.outbound.errors import NO_ANSWER, NOT_HTTP, NoResponse
from pgs.http.outbound.trust import trusted_roots

CONNECT_TIMEOUT_S: Final = 2.0
"""Seconds for a try's look-up, TCP and TLS handshake together, as the interface promises."""

TRY_TIMEOUT_S: Final = 5.0
"""Seconds from a try's look-up to the head of the response, as the interface promises. The body
must arrive within the same time."""

BODY_MAX: Final = 4096
"""Bytes of a response's body that are read. Only the first 200 characters are kept, which take at
most 800 bytes."""

USER_AGENT: Final = "Partner-Game-Service-Webhook/1"

# A URL as `pgs.domain.webhook_urls` stores it. httpcore's own parser would drop `;parameters` and
# an empty query.
_STORED_URL = re.compile(
    r"https://([a-z0-9.-]+)(?::([1-9][0-9]{0,4}))?((?:/[!-~]*)?(?:\?[!-~]*)?)", re.ASCII
)


class Outbound:
    """Delivers to webhook endpoints, over TLS and to public addresses only.

    Each try uses a new connection. Redirects are not followed, and proxies are not used.
    `ssl_context` and `is_allowed` (the address rule) are for tests and the demo, which deliver on
    this machine; no setting changes them.
    """

    def __init__(
        self,
        ssl_context: ssl.SSLContext | None = None,
        is_allowed: Callable[[str], bool] = is_public,
    ) -> None:
        self._ssl_context = ssl_context or trusted_roots()
        self._is_allowed = is_allowed

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> TryOutcome:
        """Return the outcome of one try, after at most `TRY_TIMEOUT_S`.

        Faults of name servers and of the endpoint become the outcome and raise nothing. `url` must
        be as `normalise_webhook_url` returns it, else ValueError. `headers` are sent in addition to
        Host, User-Agent, Content-Type (JSON), Content-Length and Connection. If the head arrives in
        time, its status counts, even if the body fails. A Content-Encoding is not decoded.
        """
        target = _target(url)
        began = trio.current_time()
        backend = PinnedBackend(began + CONNECT_TIMEOUT_S, self._is_allowed)
        response = _Response()
        error = NO_ANSWER
        try:
            with trio.move_on_at(began + TRY_TIMEOUT_S):
                await self._exchange(backend, _request(target, body, headers), response)
        except NoResponse as why:
            error = why.reason
        except httpcore.RemoteProtocolError:
            error = NOT_HTTP
        finally:
            backend.close()
        return TryOutcome(
            status=response.status,
            error=error if response.status is None else None,
            duration_ms=round((trio.current_time() - began) * 1000),
            response_body=response_text(bytes(response.body)),
        )

    async def _exchange(
        self, backend: PinnedBackend, request: httpcore.Request, response: "_Response"
    ) -> None:
        connection = httpcore.AsyncHTTPConnection(
            request.url.origin, ssl_context=self._ssl_context, network_backend=backend
        )
        answer = await connection.handle_async_request(request)
        response.status = answer.status
        backend.expect_body(BODY_MAX)
        async for part in answer.aiter_stream():
            # The loop runs to the end of the stream or to an error. If it stopped earlier, the
            # garbage collector would have to clean up the generator.
            response.body += part[: BODY_MAX - len(response.body)]
            backend.expect_body(BODY_MAX - len(response.body))


class _Response:
    """What has arrived of a response so far."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.body = bytearray()


def _target(url: str) -> httpcore.URL:
    found = _STORED_URL.fullmatch(url)
    if found is None:
        raise ValueError("not a webhook URL as it is stored")
    host, port, target = found.groups()
    return httpcore.URL(
        scheme=b"https",
        host=host,
        port=int(port) if port else None,
        target=target if target[:1] == "/" else f"/{target}",
    )


def _request(url: httpcore.URL, body: bytes, headers: Mapping[str, str]) -> httpcore.Request:
    host = url.host if url.port in (None, 443) else b"%s:%d" % (url.host, url.port)
    return httpcore.Request(
        "POST",
        url,
        headers=[
            (b"Host", host),
            (b"User-Agent", USER_AGENT.encode("ascii")),
            (b"Content-Type", b"application/json"),
            (b"Content-Length", b"%d" % len(body)),
            (b"Connection", b"close"),
            *((name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()),
        ],
        content=body,
    )
