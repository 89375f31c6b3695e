"""HTTP clients for the tests. They check every answer against the rules that all answers follow."""

import json
import re
import socket
from collections.abc import Sequence
from itertools import cycle
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import httpcore
import msgspec

from pgs.demo.pool import ConnectionPool
from pgs.domain.errors import ERRORS
from pgs.http.api.failures import NO_NODE
from pgs.http.api.responses import status_of
from pgs.http.api.routes import Routes
from pgs.http.endpoint_table import ENDPOINTS
from pgs.http.guide.errors import published
from pgs.http.nodes.answers import RETRY_AFTER_S
from pgs.http.reference.answers import error_example
from pgs.http.reference.reasons import reasons_of
from tests.patience import PATIENCE_S

NOTHING: Final = object()
"""The `body` of a call that sends none. With None, the call sends the JSON null."""

HeaderList = Sequence[tuple[str, str | bytes]]

_ROUTES = Routes(ENDPOINTS)
_OPTIONAL = {
    reason: set(msgspec.convert(published(kind).get("optionalFields", ()), list[str]))
    for reason, kind in ERRORS.items()
}
"""For each reason, the fields that its refusals may lack."""

_REQUEST_ID = re.compile(r"req_[0-9A-Za-z_-]{8,60}", re.ASCII)
_POLICY = re.compile(r'"partner";q=[1-9][0-9]*;w=[1-9][0-9]*', re.ASCII)
_RATE = re.compile(r'"partner";r=[0-9]+;t=[0-9]+', re.ASCII)


class Reply(msgspec.Struct, frozen=True):
    """An answer. Header names are in lower case; a repeated header has an entry for each value."""

    status: int
    headers: tuple[tuple[str, str], ...]
    content: bytes

    def all(self, name: str) -> list[str]:
        """Return every value of a header."""
        return [value for other, value in self.headers if other == name]

    def header(self, name: str) -> str | None:
        """Return the value of a header that comes at most once."""
        values = self.all(name)
        assert len(values) < 2, f"{name} came {len(values)} times"
        return values[0] if values else None

    @property
    def json(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.content)

    @property
    def reason(self) -> str | None:
        """The `reason` in the body, or None."""
        reason: str | None = self.json.get("reason")
        return reason

    @property
    def left(self) -> int:
        """How many calls the partner's bucket still holds."""
        found = re.search(r";r=([0-9]+);", self.header("ratelimit") or "")
        assert found, "no RateLimit header"
        return int(found[1])

    @property
    def version(self) -> int | None:
        """The API version that the answer is stamped with."""
        text = self.header("x-service-api-version")
        return None if text is None else int(text)


def ok(reply: Reply) -> Any:
    """Return the JSON body of an answer, which must be a 200."""
    assert reply.status == 200, (reply.status, reply.content)
    return reply.json


def check_refusal(reply: Reply, status: int, reason: str | None, **extras: object) -> None:
    """Check that an answer is exactly this refusal.

    `reason` is None for a refusal without one; `extras` are all other fields of its body.
    """
    assert (reply.status, reply.reason) == (status, reason), reply.content
    body = reply.json
    assert isinstance(body.pop("error"), str)
    body.pop("reason", None)
    check_doc_url(body.pop("docUrl", None), reason)
    assert body == extras


def check_doc_url(found: object, reason: str | None) -> None:
    """Check that a refusal with a reason, and no other, says where the reason is explained."""
    if reason is None:
        assert found is None
    else:
        assert isinstance(found, str)
        assert urlsplit(found)[2:] == ("/docs/errors", "", reason)


def check_plain(reply: Reply, *names: str) -> None:
    """Check that an answer is a plain 400 whose message names the fields."""
    check_refusal(reply, 400, None)
    for name in names:
        assert f"`{name}`" in reply.json["error"], reply.json["error"]


def checked(method: str, path: str, reply: Reply) -> Reply:
    """Return the answer, after checking what holds for all answers of the public listener."""
    path = path.partition("?")[0]
    request_id = reply.header("x-request-id")
    assert request_id is not None
    assert _REQUEST_ID.fullmatch(request_id), request_id
    stamped = reply.version is not None
    assert stamped == any(
        path == root or path.startswith(root + "/") for root in ("/partner", "/embed")
    ), (path, reply.headers)
    policy, rate = reply.header("ratelimit-policy"), reply.header("ratelimit")
    assert (policy is None) == (rate is None)
    if policy is not None and rate is not None:
        assert _POLICY.fullmatch(policy), policy
        assert _RATE.fullmatch(rate), rate
        assert reply.status != 401, "a 401 carries rate headers"
    retry_after = reply.header("retry-after")
    if reply.status == 429:
        assert retry_after is not None
        assert re.fullmatch("[1-9][0-9]*", retry_after), retry_after
    elif NO_NODE.encode() in reply.content:
        assert reply.status in (500, 503)
        assert retry_after == str(RETRY_AFTER_S)
    elif reply.status == 500 and path.startswith("/embed/"):
        assert retry_after in (None, str(RETRY_AFTER_S))
    else:
        assert retry_after is None
    if reply.status not in (200, 304) and f"{path}/".startswith(
        "/embed/"
    ):  # without a body, because the browser would show it in the frame
        assert (reply.header("content-type"), reply.content) == ("text/plain", b"")
    elif reply.status not in (200, 304) and not unquote(path).startswith("/portal/frame"):
        assert reply.header("content-type") == "application/json"
        assert reply.json["error"]
        check_reason(method, path, reply)
    return reply


def check_reason(method: str, path: str, reply: Reply) -> None:
    """Check that the reference gives the call this reason with this status."""
    found = _ROUTES.find(path.encode())
    endpoint = found[0].get(method) if found else None
    if endpoint is not None and reply.reason is not None:
        assert reply.reason in reasons_of(endpoint), (method, path, reply.content)
        assert reply.status == status_of(endpoint, reply.reason)
        check_like_example(reply.json)


def check_like_example(body: dict[str, Any]) -> None:
    """Check that a refusal has the fields of its reason's example, with values of its types."""
    reason = body["reason"]
    base_url, _, place = str(body["docUrl"]).partition("/docs/errors")
    assert place == f"#{reason}"
    example = error_example(reason, base_url)
    optional = _OPTIONAL[reason]
    assert body.keys() - optional == example.keys() - optional, (body, example)
    assert body.keys() <= example.keys() | optional, (body, example)
    for name in body.keys() & example.keys():
        assert type(body[name]) is type(example[name]), (name, body, example)
    assert body["docUrl"] == example["docUrl"]


def _request(
    base_url: str,
    path: str,
    key: str | None,
    body: object,
    headers: HeaderList,
    content: bytes | None,
) -> tuple[httpcore.URL, list[tuple[bytes, bytes]], bytes | None]:
    sent = [
        (name.encode(), value if isinstance(value, bytes) else value.encode())
        for name, value in headers
    ]
    if key is not None:
        sent.append((b"Authorization", b"Bearer " + key.encode()))
    if content is None and body is not NOTHING:
        content = json.dumps(body).encode()
    where = urlsplit(base_url)
    url = httpcore.URL(scheme=where.scheme, host=where.hostname or "", port=where.port, target=path)
    sent.append((b"Host", where.netloc.encode()))
    return url, sent, content


def _reply(response: httpcore.Response, content: bytes) -> Reply:
    headers = tuple(
        (name.decode("ascii").lower(), value.decode("latin-1")) for name, value in response.headers
    )
    return Reply(response.status, headers, content)


class Client:
    """An async client with its own connection pool. Its calls go to the nodes in turn."""

    def __init__(self, base_url: str, *others: str) -> None:
        self.base_url = base_url
        self.urls = (base_url, *others)
        self._turns = cycle(self.urls)
        self._pool = ConnectionPool(max_connections=100)

    @property
    def next_url(self) -> str:
        """The address of the node whose turn it is: another one at each reading."""
        return next(self._turns)

    async def call(
        self,
        method: str,
        path: str,
        key: str | None = None,
        body: object = NOTHING,
        *,
        headers: HeaderList = (),
        content: bytes | None = None,
    ) -> Reply:
        """Return the answer to a call.

        `path` includes the query; `body` is sent as JSON, `content` as it is.
        """
        url, sent, raw = _request(self.next_url, path, key, body, headers, content)
        response = await self._pool.request(
            method, url, headers=sent, content=raw, extensions=_TIMEOUTS
        )
        return checked(method, path, _reply(response, response.content))

    async def aclose(self) -> None:
        await self._pool.aclose()


class InternalClient(Client):
    """A client of the internal listener. The rules for partners' answers do not apply there."""

    async def get(self, path: str) -> tuple[int, bytes]:
        """Return status and body."""
        return await self.send("GET", path)

    async def send(self, method: str, path: str) -> tuple[int, bytes]:
        """Return status and body."""
        response = await self._pool.request(method, self.base_url + path, extensions=_TIMEOUTS)
        return response.status, response.content


class SyncClient:
    """A blocking client, for tests that share a service. Its calls go to the nodes in turn."""

    def __init__(self, base_url: str, *others: str) -> None:
        self.base_url = base_url
        self.urls = (base_url, *others)
        self._turns = cycle(self.urls)
        self._pool = httpcore.ConnectionPool()

    @property
    def next_url(self) -> str:
        """The address of the node whose turn it is: another one at each reading."""
        return next(self._turns)

    def call(
        self,
        method: str,
        path: str,
        key: str | None = None,
        body: object = NOTHING,
        *,
        headers: HeaderList = (),
        content: bytes | None = None,
    ) -> Reply:
        """Return the answer to a call.

        `path` includes the query; `body` is sent as JSON, `content` as it is.
        """
        url, sent, raw = _request(self.next_url, path, key, body, headers, content)
        response = self._pool.request(method, url, headers=sent, content=raw, extensions=_TIMEOUTS)
        return checked(method, path, _reply(response, response.content))

    def raw(self, request: bytes, path: str) -> Reply:
        """Send raw bytes and return the answer. The request must ask to close the connection."""
        where = urlsplit(self.next_url)
        with socket.create_connection((where.hostname, where.port), timeout=PATIENCE_S) as sock:
            sock.sendall(request)
            received = b""
            while chunk := sock.recv(65536):
                received += chunk
        head, _, content = received.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = tuple(
            (name.lower(), value.strip())
            for name, _, value in (line.partition(":") for line in lines)
        )
        method = request.split(b" ")[0].decode("latin-1")
        return checked(method, path, Reply(int(first.split(" ")[1]), headers, content))

    def close(self) -> None:
        self._pool.close()


_TIMEOUTS: dict[str, Any] = {
    "timeout": dict.fromkeys(("connect", "read", "write", "pool"), PATIENCE_S)
}
