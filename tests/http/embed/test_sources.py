"""Where the document comes from: the package, or an upstream."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from pgs.http.embed.assets import Assets, read_assets
from pgs.http.embed.documents import FRESH_S, RETRY_S, BundledFrame, NoFrame, UpstreamFrame
from pgs.http.outbound.fetch import BODY_MAX, NotFetched
from tests.http.embed.embedding import LIVE, embedding_service, policy

DOCUMENT = (
    b"<!doctype html><script nonce=%PGS_NONCE% src=https://cdn.example/x.js></script>"
    b'<i data-frame="%PGS_FRAME%">'
)


@asynccontextmanager
async def _upstream(answer: Callable[[], bytes]) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Run a server on loopback; yield its URL and the list of the calls that it receives."""
    asked: list[bytes] = []

    async def serve(stream: trio.SocketStream) -> None:
        asked.append(await stream.receive_some(4096))
        await stream.send_all(answer())
        await stream.aclose()

    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        yield f"http://127.0.0.1:{listener.socket.getsockname()[1]}/frame.html", asked
        nursery.cancel_scope.cancel()


def _response(body: bytes, status: str = "200 OK") -> bytes:
    return (
        b"HTTP/1.1 %s\r\nContent-Length: %d\r\nSet-Cookie: a=b\r\n"
        b"Content-Security-Policy: default-src *\r\n\r\n%s"
        % (
            status.encode(),
            len(body),
            body,
        )
    )


async def test_a_document_from_upstream_is_served_under_our_policy(tmp_path: Path) -> None:
    async with (
        _upstream(lambda: _response(DOCUMENT)) as (url, asked),
        embedding_service(tmp_path, frame_url=url) as service,
    ):
        for _ in range(3):
            reply = await service.public.call("GET", "/embed/acme")
            assert reply.status == 200
            rules = policy(reply.header("content-security-policy"))
            assert rules["frame-ancestors"] == [LIVE]
            (source,) = rules["script-src"]
            assert (
                f"nonce={source.removeprefix(chr(39) + 'nonce-')[:-1]} src"
                in reply.content.decode()
            )
            assert reply.header("set-cookie") is None
        assert len(asked) == 1
        assert asked[0].startswith(b"GET /frame.html HTTP/1.1\r\n")
        assert b"accept: text/html\r\n" in asked[0].lower()


@pytest.mark.parametrize(
    "answer",
    [
        _response(b"", "404 Not Found"),
        _response(b"moved", "302 Found"),
        _response(b"\xff\xfe"),
        _response(b"x" * (BODY_MAX + 1)),
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        b"nonsense\r\n\r\n",
        b"",
    ],
    ids=["missing", "redirect", "not UTF-8", "too long", "cut short", "not HTTP", "nothing"],
)
async def test_an_upstream_without_a_document_is_a_502(tmp_path: Path, answer: bytes) -> None:
    async with (
        _upstream(lambda: answer) as (url, _),
        embedding_service(tmp_path, frame_url=url) as service,
    ):
        assert (await service.public.call("GET", "/embed/acme")).status == 502
        assert (await service.public.call("GET", "/embed/nobody")).status == 404
        assert (await service.public.call("GET", "/embed/bare")).status == 409


async def test_a_service_that_has_no_frame_is_a_503(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgs.http.embed.read_assets", lambda: Assets({}, {}))
    async with embedding_service(tmp_path) as service:
        assert (await service.public.call("GET", "/embed/acme")).status == 503
        assert (await service.public.call("GET", "/embed/pgs-embed.js")).status == 404
    with pytest.raises(NoFrame):
        await BundledFrame(read_assets(tmp_path).templates).template("en")


class _Client:
    """An upstream that the test controls. It answers once `may_answer` is set."""

    def __init__(self) -> None:
        self.calls = 0
        self.answer: tuple[int, bytes] | NotFetched = (200, b"one")
        self.may_answer = trio.Event()
        self.may_answer.set()

    async def fetch(self, url: str, *, accept: str = "") -> tuple[int, bytes]:
        self.calls += 1
        await self.may_answer.wait()
        if isinstance(self.answer, NotFetched):
            raise self.answer
        return self.answer


async def test_a_document_is_fetched_again_when_it_is_no_longer_fresh(
    autojump_clock: MockClock,
) -> None:
    client = _Client()
    frame = UpstreamFrame("https://cdn.example/", client)
    assert await frame.template("en") == "one"
    client.answer = (200, b"two")
    await trio.sleep(FRESH_S - 0.1)
    assert await frame.template("en") == "one"
    await trio.sleep(0.2)
    assert await frame.template("en") == "two"
    assert client.calls == 2


async def test_a_failed_fetch_is_not_repeated_for_every_player(autojump_clock: MockClock) -> None:
    client = _Client()
    client.answer = NotFetched("down")
    frame = UpstreamFrame("https://cdn.example/", client)
    for _ in range(5):
        with pytest.raises(NotFetched):
            await frame.template("en")
    assert client.calls == 1
    client.answer = (200, b"up")
    await trio.sleep(RETRY_S)
    assert await frame.template("en") == "up"


async def test_callers_that_arrive_during_a_fetch_share_it() -> None:
    client = _Client()
    client.may_answer = trio.Event()
    frame = UpstreamFrame("https://cdn.example/", client)
    got: list[str] = []

    async def ask() -> None:
        got.append(await frame.template("en"))

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(ask)
        await wait_all_tasks_blocked()
        client.may_answer.set()
    assert got == ["one"] * 10
    assert client.calls == 1


async def test_after_a_call_is_cancelled_the_next_one_fetches(autojump_clock: MockClock) -> None:
    client = _Client()
    client.may_answer = trio.Event()
    frame = UpstreamFrame("https://cdn.example/", client)
    with trio.move_on_after(1):
        await frame.template("en")
    client.may_answer.set()
    await trio.sleep(RETRY_S)
    assert await frame.template("en") == "one"
