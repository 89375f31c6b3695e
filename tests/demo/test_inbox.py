"""The demo partner's endpoint accepts only nudges with a valid signature."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio

from pgs.clock import SystemClock
from pgs.demo.certificates import Authority
from pgs.demo.inbox import Inbox, Received, open_inbox
from pgs.demo.loopback import ADDRESS, HOOKS_HOST, LoopbackResolver, loopback_outbound
from pgs.domain.nudges import SIGNATURE_HEADER, TryOutcome, nudge_body, signature_header
from pgs.domain.webhook_urls import normalise_webhook_url
from tests.patience import PATIENCE_S

SECRET = "whsec_" + "B" * 43


@asynccontextmanager
async def _endpoint(trusted: Authority | None = None) -> AsyncIterator[tuple[Inbox, Authority]]:
    authority = Authority(SystemClock().now())
    before = trio.socket.set_custom_hostname_resolver(LoopbackResolver(HOOKS_HOST))
    try:
        with trio.fail_after(PATIENCE_S):
            async with open_inbox(authority, SystemClock()) as inbox:
                inbox.secret = SECRET
                yield inbox, authority
    finally:
        trio.socket.set_custom_hostname_resolver(before)


async def _post(body: bytes, signature: str | None) -> tuple[TryOutcome, Received | None]:
    async with _endpoint() as (inbox, authority):
        headers = {} if signature is None else {SIGNATURE_HEADER: signature}
        outcome = await loopback_outbound(authority).post(inbox.url, body, headers)
        return outcome, await inbox.next(1)


def test_the_inboxs_url_is_a_valid_webhook_url() -> None:
    url = Inbox(SystemClock(), 4711).url
    assert normalise_webhook_url(url) == url


async def test_a_signed_nudge_is_answered_with_200() -> None:
    now = SystemClock().now()
    body = nudge_body("demo", now)
    outcome, received = await _post(body, signature_header(SECRET, now, body))
    assert outcome.status == 200
    assert received is not None
    assert (received.body, received.problem, received.request_line) == (
        body,
        None,
        "POST /nudges HTTP/1.1",
    )
    assert received.arrived_ms // 1000 >= now


@pytest.mark.parametrize(
    ("secret", "age_s", "tail"),
    [(SECRET[:-1] + "C", 0, b""), (SECRET, 301, b""), (SECRET, -400, b""), (SECRET, 0, b" ")],
)
async def test_a_wrong_key_an_old_time_and_other_bytes_are_refused(
    secret: str, age_s: int, tail: bytes
) -> None:
    at = SystemClock().now() - age_s
    body = nudge_body("demo", at)
    outcome, received = await _post(body + tail, signature_header(secret, at, body))
    assert outcome.status == 400
    assert received is not None
    assert received.problem == "the signature is not valid"


async def test_a_call_without_a_signature_is_refused() -> None:
    outcome, received = await _post(b"{}", None)
    assert outcome.status == 400
    assert received is not None
    assert received.problem == "there is no signature"


async def test_another_authority_is_not_trusted() -> None:
    async with _endpoint() as (inbox, _):
        outcome = await loopback_outbound(Authority(SystemClock().now())).post(inbox.url, b"{}", {})
        assert outcome.error == "the certificate is not valid for this host"
        assert await inbox.next(0) is None


async def test_broken_calls_do_not_end_the_inbox() -> None:
    now = SystemClock().now()
    body = nudge_body("demo", now)
    async with _endpoint() as (inbox, authority):
        port = int(inbox.url.rpartition(":")[2].partition("/")[0])
        for noise in (b"", b"POST / HTTP/1.1\r\n\r\n"):
            async with await trio.open_tcp_stream(ADDRESS, port) as plain:
                await plain.send_all(noise)
        for head in (
            b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
            b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf",
            b"A" * 70_000,
        ):
            stream = trio.SSLStream(
                await trio.open_tcp_stream(ADDRESS, port),
                authority.client_context(),
                server_hostname=HOOKS_HOST,
                https_compatible=True,
            )
            await stream.send_all(head)
            await stream.aclose()
        outcome = await loopback_outbound(authority).post(
            inbox.url, body, {SIGNATURE_HEADER: signature_header(SECRET, now, body)}
        )
        assert outcome.status == 200


async def test_the_loopback_resolver_refuses_other_names() -> None:
    for resolver, known in (
        (LoopbackResolver(HOOKS_HOST), HOOKS_HOST),
        (LoopbackResolver(".partners.example.com"), "p1.partners.example.com"),
    ):
        assert (await resolver.getaddrinfo(known.encode(), 443))[0][4] == (ADDRESS, 443)
        for name in (b"partners.example.com", b"other.example.com", None):
            with pytest.raises(socket.gaierror):
                await resolver.getaddrinfo(name, 443)
