"""What counts as a response, and what endpoints may send without harm."""

import gc
import gzip
import ssl

import pytest
import trio.testing

from pgs.domain.nudges import RESPONSE_TEXT_MAX, TryOutcome
from pgs.http.outbound import tls
from pgs.http.outbound.backend import PinnedBackend, PinnedStream
from pgs.http.outbound.errors import CLOSED, NOT_HTTP, TOO_LONG
from pgs.http.outbound.tries import USER_AGENT
from tests.http.internet import (
    BODY,
    HOST,
    URL,
    Tls,
    answer_to,
    answering,
    client_context,
    keeping_none,
    open_internet,
    read_request,
)


@pytest.mark.parametrize(
    ("response", "status", "text"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok"),
        (b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 200, ""),
        (b"HTTP/1.0 202 Accepted\r\n\r\nuntil the end", 202, "until the end"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, ""),
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", 304, ""),
        (
            b"HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"3\r\nno \r\n4\r\nhook\r\n0\r\n\r\n",
            404,
            "no hook",
        ),
        (
            b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 120\r\n"
            b"Content-Length: 4\r\n\r\nbusy",
            503,
            "busy",
        ),
        (
            b"HTTP/1.1 100 Continue\r\n\r\n" * 3
            + b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\nHTTP/1.1 201 Made\r\n\r\n",
            201,
            "",
        ),
        (b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n", 200, ""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 Oops\r\n\r\n", 200, "ok"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\xff\x00ok", 200, "\ufffd\ufffdok"),
        (b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n", 999, ""),
        (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", 200, "ok"),
    ],
)
async def test_a_response_counts_by_its_status(
    autojump_clock: trio.testing.MockClock, response: bytes, status: int, text: str
) -> None:
    async with open_internet() as internet:
        outcome = await answer_to(internet, response)
        assert outcome == TryOutcome(status, None, 0, text)
        # Sent byte by byte, it is the same response.
        assert (
            await answer_to(
                internet, *(response[place : place + 1] for place in range(len(response)))
            )
            == outcome
        )


@pytest.mark.parametrize(
    ("rest", "text"),
    [
        (b"Content-Length: 100\r\n\r\nshort", "short"),
        (b"Content-Length: 9999999999\r\n\r\nshort", "short"),
        (b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n", "abc"),
        (b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n-1\r\n", "abc"),
        (b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nabc", "abc"),
        (b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffffffffffff\r\nabc", ""),
        (b"Transfer-Encoding: chunked\r\n\r\n1;" + b"x" * 50_000 + b"\r\na\r\n0\r\n\r\n", ""),
        (b"Transfer-Encoding: chunked\r\n\r\n" + (b"1;" + b"x" * 900 + b"\r\na\r\n") * 1_000, None),
        (b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"X-Trailer: a\r\n" * 50_000, ""),
        (b"Transfer-Encoding: chunked\r\n\r\n2\r\nokX\r\n", "ok"),
        (b"\r\n" + b"a" * 100_000, "a" * 200),
    ],
)
async def test_the_status_counts_whatever_happens_to_the_body(
    autojump_clock: trio.testing.MockClock, rest: bytes, text: str | None
) -> None:
    async with open_internet() as internet:
        outcome = await answer_to(internet, b"HTTP/1.1 202 Accepted\r\n" + rest)
        assert (outcome.status, outcome.error, outcome.duration_ms) == (202, None, 0)
        assert (
            outcome.response_body == text
            if text is not None
            else set(outcome.response_body) == {"a"}
        )


async def test_a_compressed_body_is_kept_as_it_came(autojump_clock: trio.testing.MockClock) -> None:
    bomb = gzip.compress(b"\x00" * 50_000_000, mtime=0)
    async with open_internet() as internet:
        outcome = await answer_to(
            internet, b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + bomb
        )
        assert outcome.status == 200
        assert outcome.response_body.startswith("\x1f\ufffd\x08")
        assert len(outcome.response_body) <= RESPONSE_TEXT_MAX


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (b"", CLOSED),
        (b"HTTP/1.1 200 O", CLOSED),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", CLOSED),
        (b"HTTP/1.1 100 Continue\r\n\r\n", CLOSED),
        (
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
            b"Connection: Upgrade\r\n\r\n",
            NOT_HTTP,
        ),
        (b"HTTP/1.1 099 Odd\r\n\r\n", NOT_HTTP),
        (b"HTTP/1.1 1000 Odd\r\n\r\n", NOT_HTTP),
        (b"HTTP/1.1 2OO OK\r\n\r\n", NOT_HTTP),
        (b"HTTP/2 200\r\n\r\n", NOT_HTTP),
        (b"ICY 200 OK\r\n\r\n", NOT_HTTP),
        (b"220 mail.example.com ESMTP\r\n\r\n", NOT_HTTP),
        (b"\x00\x00\x12\x04\x00\x00\x00\x00\x00\r\n\r\n", NOT_HTTP),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", NOT_HTTP),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok", NOT_HTTP),
        (b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5_000 + b"\r\n\r\nok", NOT_HTTP),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok", NOT_HTTP),
        (b"HTTP/1.1 200 OK\r\nNo colon\r\n\r\n", NOT_HTTP),
        (b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 40_000 + b"\r\n\r\n", TOO_LONG),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 10_000 + b"\r\n", TOO_LONG),
        (b"x" * 100_000, TOO_LONG),
    ],
)
async def test_a_malformed_or_missing_response_is_logged_as_no_response(
    autojump_clock: trio.testing.MockClock, response: bytes, error: str
) -> None:
    async with open_internet() as internet:
        assert await answer_to(internet, response) == TryOutcome(None, error, 0, "")


async def test_a_broken_connection_is_logged_as_no_response(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:

        async def handler(stream: Tls) -> None:
            await trio.aclose_forcefully(stream)

        internet.handler = handler
        outcome = await keeping_none().post(URL, BODY, {})
        assert (outcome.status, outcome.error) == (None, CLOSED)
        assert internet.open_sockets == 0


async def test_an_endpoint_may_answer_before_it_has_read_the_request(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:

        async def handler(stream: Tls) -> None:
            await stream.receive_some(100)
            await stream.send_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")

        internet.handler = handler
        assert (await keeping_none().post(URL, b"x" * 100_000, {})).status == 413


@pytest.mark.parametrize(
    ("before", "status", "error"), [(b"", None, CLOSED), (b"HTTP/1.1 200 OK\r\n\r\nbye", 200, None)]
)
async def test_a_close_notify_ends_the_response_though_the_connection_stays_open(
    autojump_clock: trio.testing.MockClock, before: bytes, status: int | None, error: str | None
) -> None:
    async with open_internet() as internet:

        async def handler(stream: Tls) -> None:
            await read_request(stream)
            if before:
                await stream.send_all(before)
            with trio.move_on_after(30):
                await stream.unwrap()
            await trio.sleep_forever()

        internet.handler = handler
        outcome = await keeping_none().post(URL, BODY, {})
        assert (outcome.status, outcome.error, outcome.duration_ms) == (status, error, 0)
        assert outcome.response_body == before.partition(b"\r\n\r\n")[2].decode()


@pytest.mark.parametrize(
    "how", ["answers", "hangs", "breaks", "is not trusted", "speaks another protocol", "bad body"]
)
async def test_a_try_leaves_nothing_for_the_garbage_collector(
    how: str, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_internet() as internet:

        async def hang(stream: Tls) -> None:
            await trio.sleep_forever()

        internet.handler = {
            "answers": answering(b"HTTP/1.1 204 No Content\r\n\r\n"),
            "breaks": answering(b"HTTP"),
            "speaks another protocol": answering(b"SSH-2.0-x\r\n\r\n"),
            "bad body": answering(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        }.get(how, hang)
        context = ssl.create_default_context() if how == "is not trusted" else client_context()
        outbound = keeping_none(context)
        gc.collect()
        gc.disable()
        try:
            outcome = await outbound.post(URL, BODY, {})
            assert outcome.status == {"answers": 204, "bad body": 200}.get(how)
            assert [
                kind
                for kind in map(type, gc.get_objects())
                if kind in (PinnedBackend, PinnedStream, tls.Tls)
            ] == []
        finally:
            gc.enable()


@pytest.mark.parametrize(
    ("url", "line", "host"),
    [
        (URL, b"POST /nudges HTTP/1.1", HOST.encode()),
        (f"https://{HOST}", b"POST / HTTP/1.1", HOST.encode()),
        (f"https://{HOST}?a=1", b"POST /?a=1 HTTP/1.1", HOST.encode()),
        (f"https://{HOST}/?", b"POST /? HTTP/1.1", HOST.encode()),
        (f"https://{HOST}:443/", b"POST / HTTP/1.1", HOST.encode()),
        (
            f"https://{HOST}:8443/a;v=1/b;c?d[]=1|2&e=%20",
            b"POST /a;v=1/b;c?d[]=1|2&e=%20 HTTP/1.1",
            HOST.encode() + b":8443",
        ),
        (f"https://{HOST}//double//slash", b"POST //double//slash HTTP/1.1", HOST.encode()),
        (
            f"https://{HOST}/@me?to=https://10.0.0.1/",
            b"POST /@me?to=https://10.0.0.1/ HTTP/1.1",
            HOST.encode(),
        ),
    ],
)
async def test_the_request_has_the_target_of_the_url_and_exactly_the_given_body(
    autojump_clock: trio.testing.MockClock, url: str, line: bytes, host: bytes
) -> None:
    requests: list[bytes] = []
    async with open_internet() as internet:
        internet.handler = answering(
            b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n", requests=requests
        )
        outbound = keeping_none()
        for _ in range(2):
            assert (
                await outbound.post(url, BODY, {"X-Service-Signature": "t=1,v1=00"})
            ).status == 200
    head = [
        line,
        b"Host: " + host,
        b"User-Agent: " + USER_AGENT.encode(),
        b"Content-Type: application/json",
        b"Content-Length: %d" % len(BODY),
        b"X-Service-Signature: t=1,v1=00",
    ]
    assert requests == [b"\r\n".join(head) + b"\r\n\r\n" + BODY] * 2


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.com/",
        "https://",
        "https://HOOKS.example.com/",
        "https://a@b.example.com/",
        URL + " ",
        URL + "\n",
        "https://[::1]/",
    ],
)
async def test_a_url_that_no_webhook_could_have_raises_value_error(url: str) -> None:
    with pytest.raises(ValueError, match="not a webhook URL"):
        await keeping_none().post(url, BODY, {})
