"""Certificates, over real sockets on loopback. Tests replace the resolver and the address rule."""

import datetime
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import trio.testing
import trustme

from pgs.domain.ip_addresses import REFUSED_MESSAGE
from pgs.domain.nudges import TryOutcome
from pgs.http.outbound.errors import BAD_CERTIFICATE, CLOSED, NO_TLS
from pgs.http.outbound.tls import Tls
from pgs.http.outbound.tries import Outbound
from pgs.http.outbound.trust import read_roots, trusted_roots
from tests.http.internet import (
    HOST,
    answering,
    authority,
    client_context,
    keeping_none,
    server_context,
)
from tests.loopback import LOOPBACK, LoopbackNames
from tests.patience import PATIENCE_S

OK = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def _allow_loopback(address: str) -> bool:
    return address == LOOPBACK


@asynccontextmanager
async def _endpoint(context: ssl.SSLContext | None) -> AsyncIterator[int]:
    """Run an endpoint on loopback, with TLS if a context is given. Yields its port."""

    async def serve(stream: trio.SocketStream) -> None:
        if context is None:
            await stream.receive_some()
            await stream.send_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            await stream.aclose()
            return
        tls = trio.SSLStream[trio.abc.Stream](
            stream, context, server_side=True, https_compatible=True
        )
        with suppress(trio.BrokenResourceError):
            await OK(tls)
        await trio.aclose_forcefully(tls)

    before = trio.socket.set_custom_hostname_resolver(LoopbackNames())
    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host=LOOPBACK)
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        yield listener.socket.getsockname()[1]
        nursery.cancel_scope.cancel()
    trio.socket.set_custom_hostname_resolver(before)


async def _try(context: ssl.SSLContext | None, outbound: Outbound, host: str = HOST) -> TryOutcome:
    with trio.fail_after(PATIENCE_S):
        async with _endpoint(context) as port:
            return await outbound.post(f"https://{host}:{port}/", b"{}", {})


def _with_default_trust() -> Outbound:
    outbound = Outbound(is_allowed=_allow_loopback)
    outbound.close()  # so that it keeps no connection
    return outbound


def _outbound() -> Outbound:
    return keeping_none(is_allowed=_allow_loopback)


def _issued(
    authority: trustme.CA, host: str, not_after: datetime.datetime | None = None
) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(host, not_after=not_after).configure_cert(context)
    return context


async def test_a_certificate_for_the_host_from_a_trusted_authority_is_accepted() -> None:
    outcome = await _try(server_context(), _outbound())
    assert (outcome.status, outcome.error, outcome.response_body) == (200, None, "ok")


async def test_a_certificate_of_another_name_is_refused() -> None:
    outcome = await _try(server_context("other.example.com"), _outbound())
    assert (outcome.status, outcome.error) == (None, BAD_CERTIFICATE)


async def test_a_certificate_of_the_address_instead_of_the_name_is_refused() -> None:
    outcome = await _try(server_context(LOOPBACK), _outbound())
    assert (outcome.status, outcome.error) == (None, BAD_CERTIFICATE)


async def test_a_wildcard_covers_one_label() -> None:
    wildcard = server_context("*.example.com")
    assert (await _try(wildcard, _outbound())).status == 200
    assert (await _try(wildcard, _outbound(), "a.b.example.com")).error == BAD_CERTIFICATE


async def test_an_expired_certificate_is_refused() -> None:
    expired = _issued(authority(), HOST, datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC))
    outcome = await _try(expired, _outbound())
    assert (outcome.status, outcome.error) == (None, BAD_CERTIFICATE)


async def test_a_certificate_of_an_unknown_authority_is_refused() -> None:
    outcome = await _try(_issued(trustme.CA(), HOST), _outbound())
    assert (outcome.status, outcome.error) == (None, BAD_CERTIFICATE)


@pytest.mark.parametrize("close_notify", [True, False])
async def test_a_response_may_end_with_a_close_notify_or_without_one(close_notify: bool) -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    client = Tls(ours, client_context(), HOST)

    async def serve() -> None:
        server = trio.SSLStream[trio.abc.Stream](
            theirs, server_context(), server_side=True, https_compatible=not close_notify
        )
        await server.send_all(b"bye")
        await server.aclose()

    with trio.fail_after(PATIENCE_S):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve)
            await client.do_handshake()
            assert [await client.receive_some(100) for _ in range(3)] == [b"bye", b"", b""]


async def test_an_endpoint_without_tls_is_logged_as_no_response() -> None:
    outcome = await _try(None, _outbound())
    assert (outcome.status, outcome.error) == (None, NO_TLS)


async def test_an_endpoint_that_offers_only_tls_older_than_ours_is_logged_as_no_response() -> None:
    client = ssl.create_default_context(cadata=authority().cert_pem.bytes().decode())
    client.minimum_version = ssl.TLSVersion.TLSv1_3
    old = _issued(authority(), HOST)
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    outcome = await _try(old, keeping_none(client, _allow_loopback))
    assert (outcome.status, outcome.error) == (None, NO_TLS)


async def test_an_endpoint_that_offers_only_tls_1_2_is_accepted() -> None:
    context = _issued(authority(), HOST)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    assert (await _try(context, _outbound())).response_body == "ok"


async def test_an_endpoint_that_demands_a_client_certificate_is_logged_as_no_response() -> None:
    strict = _issued(authority(), HOST)
    authority().configure_trust(strict)
    strict.verify_mode = ssl.CERT_REQUIRED
    outcome = await _try(strict, _outbound())
    assert (outcome.status, outcome.error) == (None, CLOSED)


async def test_the_server_is_sent_the_name_of_the_host_and_http_1_1() -> None:
    seen: list[tuple[str | None, str | None]] = []
    context = _issued(authority(), HOST)
    context.set_alpn_protocols(["h2", "http/1.1"])
    context.sni_callback = lambda server, name, _: seen.append(
        (name, server.selected_alpn_protocol())
    )
    assert (await _try(context, _outbound())).status == 200
    assert [name for name, _ in seen] == [HOST]


async def test_the_address_rule_holds_on_real_sockets_too() -> None:
    outcome = await _try(server_context(), keeping_none())
    assert (outcome.status, outcome.error) == (None, REFUSED_MESSAGE)


async def test_ssl_cert_file_replaces_every_trusted_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = tmp_path / "roots.pem"
    authority().cert_pem.write_to_path(roots)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    assert (await _try(server_context(), _with_default_trust())).error == BAD_CERTIFICATE
    monkeypatch.setenv("SSL_CERT_FILE", str(roots))
    assert (await _try(server_context(), _with_default_trust())).status == 200
    assert len(trusted_roots().get_ca_certs()) == 1


def test_with_ssl_cert_file_the_roots_in_the_system_folder_are_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenSSL by itself would still trust the folder that SSL_CERT_DIR names."""
    roots = tmp_path / "roots.pem"
    trustme.CA().cert_pem.write_to_path(roots)
    monkeypatch.setenv("SSL_CERT_FILE", str(roots))
    loaded: list[str] = []
    monkeypatch.setattr(
        ssl.SSLContext, "set_default_verify_paths", lambda context: loaded.append("the system's")
    )
    trusted_roots()
    assert loaded == []


def test_the_roots_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    assert trusted_roots() is trusted_roots()


def test_a_missing_file_of_roots_raises_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    with pytest.raises(FileNotFoundError):
        Outbound()


def test_a_system_without_roots_gets_the_packaged_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    # A system without any roots.
    nothing = ssl.DefaultVerifyPaths(None, None, "", "", "", "")  # type: ignore[arg-type]
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: nothing)
    monkeypatch.setattr(ssl.SSLContext, "set_default_verify_paths", lambda context: None)
    assert len(read_roots(None).get_ca_certs()) > 50
