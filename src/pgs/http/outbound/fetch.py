"""Calls services that the operator has configured, such as an identity issuer.

Every call is bounded in time and in size. Most answers are JSON.
"""

import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import httpcore
import msgspec
import trio

from pgs.domain.errors import BadRequest
from pgs.domain.service_urls import ServiceUrl, is_loopback, parse_service_url
from pgs.http.api.body import decode_object
from pgs.http.outbound.backend import PinnedBackend
from pgs.http.outbound.errors import NOT_HTTP, NoResponse
from pgs.http.outbound.trust import trusted_roots

CONNECT_TIMEOUT_S: Final = 2.0
"""Seconds for look-up, TCP and TLS handshake together. A healthy service needs a fraction of
that."""

TIMEOUT_S: Final = 4.0
"""Seconds for a whole call. An issuer's discovery document and keys need two calls, so a sign-in
waits for them for 8 s at most."""

BODY_MAX: Final = 128 * 1024
"""Bytes of a response. Key sets that carry certificate chains have about a quarter of that."""

USER_AGENT: Final = "Partner-Game-Service/1"

NO_ANSWER: Final = "no complete response in time"
BODY_TOO_LONG: Final = "the response is too long"
NOT_JSON: Final = "the response is not a JSON object"

Json = dict[str, object]
Fetch = Callable[[str], Awaitable[Json]]
"""Takes a URL and returns the JSON object found there; raises NotFetched."""


class NotFetched(Exception):
    """There was no usable answer.

    `reason` is for the log and contains nothing that the other side sent.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Fetched(msgspec.Struct, frozen=True):
    """An answer of any status."""

    status: int
    body: Json


class JsonClient:
    """Calls services at URLs that `parse_service_url` accepts.

    Each call uses a new connection. Redirects are not followed, and proxies are not used. Over http
    it connects only to loopback addresses. `ssl_context` is for tests.
    """

    def __init__(self, ssl_context: ssl.SSLContext | None = None) -> None:
        self._ssl_context = ssl_context or trusted_roots()

    async def get(self, url: str) -> Json:
        """Return the JSON object at `url`.

        Raises NotFetched, also for any status but 200, and ValueError for a URL that may not be
        called.
        """
        fetched = await self.fetch_json(url)
        if fetched.status != 200:
            raise NotFetched(f"the response has status {fetched.status}")
        return fetched.body

    async def fetch_json(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeout_s: float = TIMEOUT_S,
        max_bytes: int = BODY_MAX,
    ) -> Fetched:
        """Return the answer of one call: its status, which may be any, and a JSON object.

        The call takes at most `timeout_s`, and the answer has at most `max_bytes`. `body` is JSON
        text. `headers` are sent in addition to the usual ones. Raises NotFetched, and ValueError
        for a URL that may not be called.
        """
        status, raw = await self.fetch(
            url, method=method, headers=headers, body=body, timeout_s=timeout_s, max_bytes=max_bytes
        )
        decoded = decode_object(raw)
        if isinstance(decoded, BadRequest):
            raise NotFetched(NOT_JSON)
        return Fetched(status, decoded)

    async def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        accept: str = "application/json",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeout_s: float = TIMEOUT_S,
        max_bytes: int = BODY_MAX,
    ) -> tuple[int, bytes]:
        """Return the status and the body of one call. The body need not be JSON.

        Parameters and errors are those of `fetch_json`.
        """
        target = parse_service_url(url)
        if target is None:
            raise ValueError("not an address of a service: https, or http on loopback")
        began = trio.current_time()
        backend = PinnedBackend(
            began + min(CONNECT_TIMEOUT_S, timeout_s), _anywhere if target.secure else is_loopback
        )
        reader = _Reader(backend, max_bytes)
        try:
            with trio.move_on_at(began + timeout_s):
                return await self._exchange(
                    target, _request(target, method, accept, headers or {}, body), reader
                )
        except NoResponse as why:
            raise NotFetched(BODY_TOO_LONG if reader.status is not None else why.reason) from None
        except httpcore.RemoteProtocolError:
            raise NotFetched(NOT_HTTP) from None
        finally:
            backend.close()
        raise NotFetched(NO_ANSWER)

    async def _exchange(
        self, target: ServiceUrl, request: httpcore.Request, reader: "_Reader"
    ) -> tuple[int, bytes]:
        connection = httpcore.AsyncHTTPConnection(
            request.url.origin, ssl_context=self._ssl_context, network_backend=reader.backend
        )
        return await reader.read(await connection.handle_async_request(request))


class _Reader:
    """Reads one response to its end. `status` is None until the head has arrived."""

    def __init__(self, backend: PinnedBackend, max_bytes: int) -> None:
        self.backend = backend
        self.status: int | None = None
        self._max_bytes = max_bytes

    async def read(self, response: httpcore.Response) -> tuple[int, bytes]:
        self.status = response.status
        self.backend.expect_body(self._max_bytes)
        raw = bytearray()
        # The loop runs to the end of the stream or to an error. If it stopped earlier, the garbage
        # collector would have to clean up the generator.
        async for part in response.aiter_stream():
            raw += part[: self._max_bytes + 1 - len(raw)]
        if len(raw) > self._max_bytes:
            raise NotFetched(BODY_TOO_LONG)
        return response.status, bytes(raw)


def _anywhere(address: str) -> bool:
    return True


def _request(
    target: ServiceUrl, method: str, accept: str, headers: Mapping[str, str], body: bytes | None
) -> httpcore.Request:
    name = f"[{target.host}]" if ":" in target.host else target.host
    usual = target.port == (443 if target.secure else 80)
    own = [
        ("Host", name if usual else f"{name}:{target.port}"),
        ("User-Agent", USER_AGENT),
        ("Accept", accept),
        ("Accept-Encoding", "identity"),
        ("Connection", "close"),
    ]
    if body is not None:
        own += [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    url = httpcore.URL(
        scheme=b"https" if target.secure else b"http",
        host=target.host.encode("ascii"),
        port=target.port,
        target=target.target.encode("ascii"),
    )
    fields = [
        (key.encode("ascii"), value.encode("ascii")) for key, value in [*own, *headers.items()]
    ]
    return httpcore.Request(method, url, headers=fields, content=body)
