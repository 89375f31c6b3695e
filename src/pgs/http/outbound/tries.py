"""One try at delivering a nudge, from the look-up to the last byte that is read of the response."""

import re
import ssl
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import httpcore
import trio

from pgs.domain.ip_addresses import is_public
from pgs.domain.nudges import TryOutcome, response_text
from pgs.http.outbound.backend import allowed_addresses, open_stream
from pgs.http.outbound.errors import NO_ANSWER, NOT_HTTP, TOO_LONG, NoResponse
from pgs.http.outbound.kept_connections import Connection, Endpoint, KeptConnections
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

    A try looks up the endpoint's addresses. If an earlier try has left a connection open, and it
    leads to one of them, the try uses it. Redirects are not followed, and proxies are not used.

    `ssl_context` and `is_allowed` (the address rule) are for tests and the demo, which deliver on
    this machine; no setting changes them.
    """

    def __init__(
        self,
        ssl_context: ssl.SSLContext | None = None,
        is_allowed: Callable[[str], bool] = is_public,
    ) -> None:
        self._ssl_context = ssl_context or trusted_roots()
        self._ssl_context.set_alpn_protocols(["http/1.1"])
        self._is_allowed = is_allowed
        self._kept = KeptConnections()

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> TryOutcome:
        """Return the outcome of one try, after at most `TRY_TIMEOUT_S`.

        Faults of name servers and of the endpoint become the outcome and raise nothing. `url` must
        be as `normalise_webhook_url` returns it, else ValueError. `headers` are sent in addition to
        Host, User-Agent, Content-Type (JSON) and Content-Length. If the head arrives in time, its
        status counts, even if the body fails. A Content-Encoding is not decoded.

        If a kept connection fails before the head of a response is complete, the request is sent
        once more over a new connection, unless that head is too long or the time for connecting is
        over. So an endpoint may see a nudge twice, as it also may with several tries.
        """
        target = _target(url)
        began = trio.current_time()
        connect_by = began + CONNECT_TIMEOUT_S
        response = _Response()
        error = NO_ANSWER
        try:
            with trio.move_on_at(began + TRY_TIMEOUT_S):
                await self._send(_request(target, body, headers), connect_by, response)
        except NoResponse as why:
            error = why.reason
        return TryOutcome(
            status=response.status,
            error=error if response.status is None else None,
            duration_ms=round((trio.current_time() - began) * 1000),
            response_body=response_text(bytes(response.body)),
        )

    def close_idle(self) -> None:
        """Close connections that no try has used for a while.

        If a try has already waited for `kept_connections.WAIT_S` for a new connection to an
        endpoint, close all idle ones to that endpoint.
        """
        self._kept.close_idle()

    def close(self) -> None:
        """Close all idle connections now, and each connection in use when its try ends."""
        self._kept.close()

    async def _send(self, request: httpcore.Request, by: float, response: "_Response") -> None:
        """Send a request over a kept or a new connection, which must be ready at the time `by`.

        Raises NoResponse.
        """
        host, port = endpoint = request.url.origin.host, request.url.origin.port
        addresses = await allowed_addresses(host.decode("ascii"), port, self._is_allowed, by)
        kept = self._kept.take(endpoint, addresses)
        if kept is not None:
            try:
                await self._exchange(endpoint, kept, request, response)
                return
            except NoResponse as why:
                # The endpoint may have closed the idle connection when the request was on its way.
                # Something that is too long is no sign of that.
                answered = response.status is not None or why.reason == TOO_LONG
                if answered or trio.current_time() >= by:
                    raise
        with self._kept.connecting(endpoint):
            made = await self._connect(endpoint, addresses, by)
        await self._exchange(endpoint, made, request, response)

    async def _connect(self, endpoint: Endpoint, addresses: Sequence[str], by: float) -> Connection:
        host, port = endpoint
        stream, address = await open_stream(addresses, port, by)
        try:
            await stream.start_tls(self._ssl_context, host.decode("ascii"))
        except BaseException:
            stream.close()
            raise
        return Connection(address, stream)

    async def _exchange(
        self,
        endpoint: Endpoint,
        connection: Connection,
        request: httpcore.Request,
        response: "_Response",
    ) -> None:
        """Send a request and read the response. Then keep the connection, or close it.

        Raises NoResponse.
        """
        stream = connection.stream
        # Each exchange has a new parser. One that was used again would take bytes that came after
        # one response for the beginning of the next response.
        http = _Parser(request.url.origin, stream)
        try:
            answer = await http.handle_async_request(request)
            response.status = answer.status
            stream.expect_body(BODY_MAX)
            async for part in answer.aiter_stream():
                # The loop runs to the end of the stream or to an error. If it stopped earlier, the
                # garbage collector would have to clean up the generator.
                response.body += part[: BODY_MAX - len(response.body)]
                stream.expect_body(BODY_MAX - len(response.body))
            await answer.aclose()
        except httpcore.RemoteProtocolError as error:
            # The parser's error refers to itself through a frame of its traceback, and other frames
            # of that traceback hold the connection. Remove the traceback, because otherwise only
            # the garbage collector could free the connection.
            if error.__cause__ is not None:
                error.__cause__.__traceback__ = None
            raise NoResponse(NOT_HTTP) from None
        finally:
            if http.is_idle() and not http.has_unread():
                self._kept.keep(endpoint, connection)
            else:
                stream.close()


class _Parser(httpcore.AsyncHTTP11Connection):
    """httpcore's side of one exchange."""

    def has_unread(self) -> bool:
        """Return whether the last read brought bytes that are not part of the response."""
        return bool(self._h11_state.trailing_data[0])


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
            *((name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()),
        ],
        content=body,
    )
