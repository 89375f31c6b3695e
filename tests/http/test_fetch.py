"""Calls to services that the operator configured, over real sockets on loopback."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import trio

from pgs.http.outbound.errors import BAD_CERTIFICATE, NOT_CONNECTED, NOT_HTTP, TOO_LONG
from pgs.http.outbound.fetch import (
    BODY_TOO_LONG,
    NO_ANSWER,
    NOT_JSON,
    Fetched,
    JsonClient,
    NotFetched,
)
from pgs.http.outbound.trust import trusted_roots
from tests.http.internet import (
    PUBLIC,
    answering,
    authority,
    client_context,
    open_internet,
    read_request,
)
from tests.patience import PATIENCE_S

Handler = Callable[[trio.SocketStream], Awaitable[None]]
HEAD = b"HTTP/1.1 200 OK\r\n"


@asynccontextmanager
async def _service(
    *parts: bytes, requests: list[bytes] | None = None, hold: bool = False
) -> AsyncIterator[str]:
    """Run a server that reads a request and sends the parts; yield its address."""

    async def serve(stream: trio.SocketStream) -> None:
        request = await read_request(stream)
        if requests is not None:
            requests.append(request)
        try:
            for part in parts:
                await stream.send_all(part)
            if hold:
                await trio.sleep_forever()
        except trio.BrokenResourceError:
            pass
        await stream.aclose()

    with trio.fail_after(PATIENCE_S):
        async with trio.open_nursery() as nursery:
            (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
            nursery.start_soon(trio.serve_listeners, serve, [listener])
            yield f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
            nursery.cancel_scope.cancel()


def _sized(body: bytes, status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)


def _client() -> JsonClient:
    return JsonClient(client_context())


async def test_an_object_is_fetched_and_the_request_says_who_asks() -> None:
    requests: list[bytes] = []
    async with _service(_sized(b'{"a":1}'), requests=requests) as url:
        assert await _client().get(f"{url}/keys?v=1") == {"a": 1}
    head = requests[0].decode().split("\r\n")
    assert head[0] == "GET /keys?v=1 HTTP/1.1"
    assert {
        f"Host: {url.removeprefix('http://')}",
        "Accept: application/json",
        "Connection: close",
    } <= set(head)


async def test_a_body_and_headers_are_sent_and_any_status_is_returned() -> None:
    requests: list[bytes] = []
    async with _service(
        _sized(b'{"status":"declined"}', b"402 Payment Required"), requests=requests
    ) as url:
        fetched = await _client().fetch_json(
            url, method="POST", headers={"Idempotency-Key": "sea_1"}, body=b'{"a":1}'
        )
    assert fetched == Fetched(402, {"status": "declined"})
    assert requests[0].startswith(b"POST / HTTP/1.1\r\n")
    assert b"\r\nIdempotency-Key: sea_1\r\n" in requests[0]
    assert requests[0].endswith(b'\r\n\r\n{"a":1}')


async def test_a_body_may_come_in_chunks_or_end_with_the_connection() -> None:
    async with _service(
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b'4\r\n{"a"\r\n', b"3\r\n:1}\r\n0\r\n\r\n"
    ) as url:
        assert await _client().get(url) == {"a": 1}
    async with _service(HEAD + b"\r\n", b'{"a"', b":1}") as url:
        assert await _client().get(url) == {"a": 1}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (_sized(b"{}", b"404 Not Found"), "the response has status 404"),
        (
            _sized(b"{}", b"302 Found\r\nLocation: https://evil.example/"),
            "the response has status 302",
        ),
        (_sized(b"[]"), NOT_JSON),
        (_sized(b""), NOT_JSON),
        (_sized(b'{"a":NaN}'), NOT_JSON),
        (_sized(b"\xff"), NOT_JSON),
        (_sized(b'{"a":' + b"[" * 100_000), NOT_JSON),
        (_sized(b'{"a":"\\ud800"}'), NOT_JSON),
        (HEAD + b"Content-Length: 100\r\n\r\n{}", NOT_HTTP),
        (b"not HTTP\r\n\r\n", NOT_HTTP),
        (HEAD + b"X: " + b"x" * 100_000, TOO_LONG),
        (_sized(b" " * 150_000 + b"{}"), BODY_TOO_LONG),
        (HEAD + b"\r\n" + b" " * 1_000_000, BODY_TOO_LONG),
    ],
    ids=[
        "404",
        "redirect",
        "list",
        "empty",
        "NaN",
        "not UTF-8",
        "deep",
        "surrogate",
        "cut short",
        "no HTTP",
        "long head",
        "long body",
        "endless body",
    ],
)
async def test_an_answer_that_is_no_json_object_raises_not_fetched(
    answer: bytes, reason: str
) -> None:
    async with _service(answer) as url:
        with pytest.raises(NotFetched) as caught:
            await _client().get(url)
    assert caught.value.reason == reason


async def test_a_smaller_body_limit_is_exact_to_the_byte() -> None:
    for size, fits in ((64, True), (65, False)):
        body = b"{" + b" " * (size - 2) + b"}"
        async with _service(
            HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (size, body)
        ) as url:
            if fits:
                assert await _client().fetch_json(url, max_bytes=64) == Fetched(200, {})
            else:
                with pytest.raises(NotFetched, match=BODY_TOO_LONG):
                    await _client().fetch_json(url, max_bytes=64)


@pytest.mark.parametrize(
    "begun", [b"", HEAD, _sized(b"{}")[:-1]], ids=["nothing", "half a head", "half a body"]
)
async def test_a_service_that_stops_in_the_middle_is_given_up_after_the_timeout(
    begun: bytes,
) -> None:
    async with _service(begun, hold=True) as url:
        with pytest.raises(NotFetched, match=NO_ANSWER):
            await _client().fetch_json(url, timeout_s=0.2)


async def test_a_service_that_does_not_listen_raises_not_fetched() -> None:
    async with _service() as url:
        pass
    with pytest.raises(NotFetched, match=NOT_CONNECTED):
        await _client().get(url)


@pytest.mark.parametrize(
    "url",
    ["http://id.example.com/", "ftp://127.0.0.1/", "127.0.0.1", "https://user@id.example.com/"],
)
async def test_a_url_that_may_not_be_called_is_a_value_error(url: str) -> None:
    with pytest.raises(ValueError, match="not an address"):
        await _client().get(url)


async def test_https_is_called_by_name_with_its_certificate_checked(
    autojump_clock: trio.abc.Clock,
) -> None:
    async with open_internet() as internet:
        internet.handler = answering(_sized(b'{"a":1}'))
        assert await _client().get("https://hooks.example.com/keys") == {"a": 1}
        assert internet.connects == [(PUBLIC, 443)]
        with pytest.raises(NotFetched, match=BAD_CERTIFICATE):
            await _client().get("https://other.example.com/keys")
        assert internet.open_sockets == 0


async def test_https_may_connect_to_a_private_address(autojump_clock: trio.abc.Clock) -> None:
    async with open_internet() as internet:
        internet.answers = [["10.0.0.5"]]
        internet.handler = answering(_sized(b"{}"))
        assert await _client().get("https://hooks.example.com/") == {}
        assert internet.connects == [("10.0.0.5", 443)]


async def test_http_connects_to_no_address_beyond_this_machine(
    autojump_clock: trio.abc.Clock,
) -> None:
    async with open_internet() as internet:
        internet.answers = [[PUBLIC]]
        with pytest.raises(NotFetched):
            await _client().get("http://localhost/")
        assert internet.lookups
        assert internet.connects == []


async def test_a_client_trusts_only_the_roots_of_ssl_cert_file_if_it_is_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    path = f"{tmp_path}/roots.pem"
    authority().cert_pem.write_to_path(path)
    async with open_internet() as internet:
        internet.handler = answering(_sized(b"{}"))
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        with pytest.raises(NotFetched, match=BAD_CERTIFICATE):
            await JsonClient().get("https://hooks.example.com/")
        monkeypatch.setenv("SSL_CERT_FILE", path)
        assert await JsonClient().get("https://hooks.example.com/") == {}
        assert len(trusted_roots().get_ca_certs()) == 1
