"""The lane reads a request as hypercorn does: generated requests get the same answers both ways."""

import os
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial

import msgspec
import pytest
import trio

from pgs.http.transport.asgi import App, Receive, Scope, Send
from pgs.http.transport.limits import ServerLimits
from pgs.http.transport.plain_heads import END, may_become_plain, read_plain_head
from pgs.http.transport.server import serve
from tests.http.apps import edge, http_app, read_body, reply
from tests.http.raw import QUICK, UNHURRIED, Server, serving
from tests.patience import PATIENCE_S

LIMITS = msgspec.structs.replace(QUICK, linger_s=0.05)
LIMITS_OF_PLAIN = msgspec.structs.replace(UNHURRIED, linger_s=0.05, lane_body_s=PATIENCE_S)
AT_ONCE = 32
TRIES_S = (0.1, 1.0, 3.0)  # if no answer has come by then, the server waits for more bytes

PARTS = int(os.environ.get("LANE_PARTS", "1"))
"""Parts of ten thousand requests. LANE_PARTS=10 compares a hundred thousand, in five minutes of
processor time."""

CONTINUE = b"HTTP/1.1 100"

METHODS = [*["GET", "POST"] * 40, "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "get", "TRACE"]
METHODS += ["CONNECT", "G(T", "", "PRI", "X" * 20]
TARGETS = [*["/partner/me", "/p?a=1&b=%20", "/"] * 30, "/a%2fb", "/%", "*", "http://h/x", "/a b"]
TARGETS += ["/\xe9", "//x", "/a?b?c", "/#f", "", "x", "/" + "y" * 9000, "/tab\there", "/nul\0"]
VERSIONS = [*["HTTP/1.1"] * 60, "HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "http/1.1", "HTTP/1.1 ", ""]
HOSTS = [*["Host: h"] * 80, "host:h:80", "HOST:  [::1]:1  ", "Host: a/b", "Host:", "Host : h", ""]
HOSTS += ["Host: h\r\nHost: h", "Host: \xe9", "Host: h\t", "Host: h, h"]
ODD = ["Connection: keep-alive", "Connection: Keep-Alive", "Connection: close", "Connection:"]
ODD += ["Connection: upgrade, keep-alive", "Expect: 100-continue", "Upgrade: h2c", "TE: trailers"]
ODD += ["Transfer-Encoding: chunked", "Transfer-Encoding: gzip", "X-Pgs-Partner: p", "X-A: b\0c"]
ODD += ["X-A: 1\r\nX-A: 2", "X-A: b\r\n c", "X-A: \t b \t", "X-A : b", " X-A: b", "X-A", ": b"]
ODD += ["X-A: b\n", "X-A: b\rX-B: c", "X(A): b", "X-A:b", "X-A:", "X-A: \xe9", "X-A: ~!@#$%^&*()"]
ODD += ["Keep-Alive: 5", "Proxy-Connection: close", "X-Long: " + "z" * 9000, "Authorization: a  b"]
ODD += ["\r\n".join(f"X-{number}: y" for number in range(70)), "Trailer: x", "A" * 300 + ": b"]
ODD += ["X-Pgs-Forwarded: a.b", "X-Pgs-Forwarded: a\r\nX-Pgs-Forwarded: b"]
ODD += ["Accept: */*", "X-Request-Id: r", "Cookie: a=b; c=d", "Content-Type: a/b"] * 10
LENGTHS = [*["0", "3"] * 10, "003", "+3", "3 ", "-1", "3, 3", "x", "", "4" * 16, "\uff13"]
LENGTHS += ["3\r\nContent-Length: 3", "3\r\nContent-Length: 4", "99999"]
ENDS = [*["\r\n\r\n"] * 60, "\n\n", "\r\n\n", "\r\n", "", "\r\n\r", "\r\n \r\n\r\n"]


def requests(number: int, seed: int) -> Iterator[bytes]:
    """Return what clients may send, most of it with one fault and some with none or several."""
    chance = random.Random(seed)
    for _ in range(number):
        line = " ".join((chance.choice(METHODS), chance.choice(TARGETS), chance.choice(VERSIONS)))
        headers = [chance.choice(HOSTS), "User-Agent: t", *chance.sample(ODD, chance.randrange(3))]
        if chance.random() < 0.4:
            headers.append("Content-Length: " + chance.choice(LENGTHS))
        chance.shuffle(headers)
        text = "\r\n".join([line, *filter(None, headers)]) + chance.choice(ENDS)
        text += chance.choice(["", "abc", "abc", "3\r\nabc\r\n0\r\n\r\n", "GET /2 HTTP/1.1\r\n"])
        if chance.random() < 0.1:
            text = chance.choice(["\r\n", "\n", " ", "\x16\x03", "GET"]) + text
        yield text.encode("utf-8" if "\uff13" in text else "latin-1")


async def tell(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with everything that the application is told of the request."""
    body = await read_body(receive)
    told = (scope["method"], scope["path"], scope["raw_path"], scope["query_string"], body)
    await reply(send, 200, repr((*told, scope["headers"])).encode())


async def answer_of(server: Server, raw: bytes, wait_s: float) -> list[bytes]:
    """Return everything that comes back, without what differs between two equal requests."""
    async with await server.client() as client:
        with suppress(trio.BrokenResourceError):
            await client.send(raw)
            # A client that ends before the answer comes changes the answer, in hypercorn too.
            text = b""
            with trio.move_on_after(wait_s):
                while text.startswith(CONTINUE[: len(text)]) and text.count(END) < 2:
                    text += await client.stream.receive_some()
            await client.stream.send_eof()
        text += await client.end()
    varying = (b"date:", b"x-request-id:")
    return sorted(line for line in text.split(b"\r\n") if not line.startswith(varying))


def goes_through_lane(raw: bytes) -> bool:
    """Return whether a request is whole and has a plain head."""
    head, end, rest = raw.partition(END)
    plain = read_plain_head(head) if end else None
    return plain is not None and plain.length <= len(rest)


async def check_plain(raw: bytes, hypercorn: Server, lane: Server) -> None:
    """Check that a request of the lane reaches the application both ways, and looks the same."""
    answer = await answer_of(lane, raw, PATIENCE_S)
    assert any(line.startswith(b"HTTP/1.1 200 ") for line in answer), raw
    assert answer == await answer_of(hypercorn, raw, PATIENCE_S), raw


async def check_other(raw: bytes, hypercorn: Server, lane: Server) -> None:
    """Compare both ways. On a busy machine an end may overtake an answer, but not for 3 s."""
    *first, last = TRIES_S
    for wait_s in first:
        if await answer_of(lane, raw, wait_s) == await answer_of(hypercorn, raw, wait_s):
            return
    assert await answer_of(lane, raw, last) == await answer_of(hypercorn, raw, last), raw


def telling(parsers: Counter[str]) -> App:
    """Return an application that is `tell` and counts which parser has read each request."""

    async def count_and_tell(scope: Scope, receive: Receive, send: Send) -> None:
        # Only an ASGI server sets "asgi"; the scope of a request of the lane is made by `Direct`.
        parsers["hypercorn" if "asgi" in scope else "lane"] += 1
        await tell(scope, receive, send)

    return http_app(count_and_tell)


async def send_both_ways(
    raws: Iterable[bytes],
    check: Callable[[bytes, Server, Server], Awaitable[None]],
    limits: ServerLimits,
) -> tuple[Counter[str], Counter[str]]:
    """Check requests; return which parsers read them without the lane, and with it."""

    async def work(hypercorn: Server, lane: Server) -> None:
        for raw in pending:
            await check(raw, hypercorn, lane)

    pending = iter(raws)
    without, with_lane = Counter[str](), Counter[str]()
    async with (
        serving(partial(serve, lane=False), edge(telling(without)), limits) as hypercorn,
        serving(serve, edge(telling(with_lane)), limits) as lane,
        trio.open_nursery() as nursery,
    ):
        for _ in range(AT_ONCE):
            nursery.start_soon(work, hypercorn, lane)
    return without, with_lane


async def compare(number: int, seed: int) -> int:
    """Check that requests get the same answers both ways; return how many went through the lane.

    Each request that is whole and has a plain head is read by the lane's parser in one run and by
    hypercorn's in the other. All others are read by hypercorn's both times.
    """
    raws = list(requests(number, seed))
    plain = [raw for raw in raws if goes_through_lane(raw)]
    others = [raw for raw in raws if not goes_through_lane(raw)]
    without, with_lane = await send_both_ways(plain, check_plain, LIMITS_OF_PLAIN)
    assert without == {"hypercorn": len(plain)}
    assert with_lane == {"lane": len(plain)}
    without, with_lane = await send_both_ways(others, check_other, LIMITS)
    assert without.keys() == with_lane.keys() == {"hypercorn"}
    return len(plain)


async def test_generated_requests_get_the_same_answers_both_ways() -> None:
    assert await compare(200, seed=1) > 50


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(PARTS))
async def test_ten_thousand_generated_requests_get_the_same_answers_both_ways(part: int) -> None:
    assert await compare(10_000, seed=2 + part) > 2_500


def test_every_beginning_of_a_plain_head_may_become_plain() -> None:
    heads = [raw[: raw.index(END)] for raw in requests(2000, seed=3) if END in raw]
    plain = [head for head in heads if read_plain_head(head) is not None]
    assert len(plain) > 500
    for head in plain:
        assert all(may_become_plain((head + END)[:size]) for size in range(len(head) + 3))


@pytest.mark.parametrize(
    "start",
    [b"\n", b" GET /", b"get /", b"GET x", b"GET / HTTP/1.1\n", b"GET /\0", b"\x16\x03", b"HEAD /"],
)
def test_a_head_is_not_waited_for_once_its_beginning_rules_out_a_plain_head(start: bytes) -> None:
    assert not may_become_plain(start)


def test_a_request_that_another_node_forwarded_has_a_plain_head() -> None:
    head = b"GET /partner/me HTTP/1.1\r\nHost: h\r\nX-Pgs-Forwarded: kid.mac\r\nAccept: */*"
    plain = read_plain_head(head)
    assert plain is not None
    assert plain.forwarded == b"kid.mac"
    assert plain.headers == [(b"host", b"h"), (b"accept", b"*/*")]
    assert read_plain_head(head.replace(b"X-Pgs-Forwarded", b"X-Pgs-Partner")) is None
