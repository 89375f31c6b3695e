"""Paths and methods that are not served, and which paths carry a version."""

import socket
from urllib.parse import urlsplit

import pytest

from pgs.actors.messages.account.settings import SetRate
from pgs.domain.members import PLATFORM
from tests.journeys.client import SyncClient, check_refusal, ok
from tests.journeys.partners import Partner
from tests.journeys.service import SharedService
from tests.journeys.ways import both_ways
from tests.patience import PATIENCE_S

shared = both_ways()

PATHS = [
    "/partner",
    "/partner/",
    "/partner/nothing",
    "/partner/me/",
    "/partner//me",
    "/partner/me/more",
    "/partner/ME",
    "/partner/seats/",
    "/partner/seats/a/b",
    "/partner/matches/a/b",
    "/partner/test/matches//",
    "/partner/test/matches//decide",
    "/partner/seats/%FF",
    "/partnerx",
    "/partnerx/me",
    "/Partner/me",
    "/nothing",
    "/embed/test/a/b",
    "/embedded",
    "/game",
    "/game/nothing",
    "/docs/nothing",
    "/internal/healthz",
    "/internal/metrics",
    "/internal/registry/refresh",
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("with_key", [True, False])
def test_an_unknown_path_is_404_in_the_error_shape(
    client: SyncClient, known: Partner, path: str, with_key: bool
) -> None:
    reply = client.call("GET", path, known.test if with_key else None)
    assert reply.status == 404
    if not path.startswith("/embed/"):
        check_refusal(reply, 404, None)
    assert reply.header("ratelimit") is None


@pytest.mark.parametrize(
    ("path", "allow"),
    [
        ("/partner/me", "GET"),
        ("/partner/tiers", "GET"),
        ("/partner/results", "GET"),
        ("/partner/sessions", "POST"),
        ("/partner/matches", "POST"),
        ("/partner/matches/mat_x", "GET"),
        ("/partner/seats/sea_x", "GET"),
        ("/partner/test/matches/mat_x/decide", "POST"),
        ("/docs/changelog.md", "GET"),
        ("/docs/errors.json", "GET"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"])
def test_another_method_is_405_with_allow_with_and_without_a_key(
    client: SyncClient, known: Partner, path: str, allow: str, method: str
) -> None:
    if method == allow:
        assert client.call(method, path).status in (200, 401)
        return
    for key in (known.test, None):
        reply = client.call(method, path, key, {"not": "looked at"} if method != "GET" else {})
        check_refusal(reply, 405, None)
        assert allow in (reply.header("allow") or "").split(", ")
        assert method not in (reply.header("allow") or "").split(", ")
        assert reply.header("ratelimit") is None


def test_neither_404_nor_405_draws_from_a_bucket(shared: SharedService) -> None:
    partner, client = shared.partner(), shared.client
    shared.account(partner, SetRate(PLATFORM, 50, 1))
    before = client.call("GET", "/partner/me", partner.test).left
    for _ in range(10):
        assert client.call("GET", "/partner/nothing", partner.test).status == 404
        assert client.call("PUT", "/partner/me", partner.test, {}).status == 405
    assert client.call("GET", "/partner/me", partner.test).left >= before - 1


def test_head_is_answered_without_a_body(client: SyncClient) -> None:
    where = urlsplit(client.next_url)
    with socket.create_connection((where.hostname, where.port), timeout=PATIENCE_S) as sock:
        sock.sendall(b"HEAD /partner/me HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        received = b""
        while chunk := sock.recv(65536):
            received += chunk
    head, _, content = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 405 ")
    assert content == b""


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?",
        "?unknown=1",
        "?unknown=1&other=1",
        "?a&b&&=",
        "?cursor=x",
        "?waitSeconds=99",
        "?a=%F0%9F%8E%B2",
        "?a=%00",
        "?a=%FF&%FF=1&b=%",
    ],
)
def test_unknown_parameters_are_ignored(client: SyncClient, known: Partner, query: str) -> None:
    ok(client.call("GET", f"/partner/me{query}", known.test))


@pytest.mark.parametrize(
    "query",
    [
        "limit=1&limit=1",
        "limit=1&%6Cimit=1",
        "waitSeconds=0&waitSeconds=0",
        "cursor=&cursor=",
        "limit=%",
        "limit=%zz",
        "limit=%FF",
        "since=%00",
    ],
)
def test_a_repeated_or_undecodable_parameter_is_a_plain_400(
    client: SyncClient, known: Partner, query: str
) -> None:
    check_refusal(client.call("GET", f"/partner/results?{query}", known.test), 400, None)


@pytest.mark.parametrize(
    "cursor", ["%00", "%ff", "%", "%zz", "A" * 5000, "%F0%9F%98%80"], ids=lambda cursor: cursor[:10]
)
def test_anything_but_a_cursor_is_an_invalid_cursor(
    client: SyncClient, known: Partner, cursor: str
) -> None:
    check_refusal(
        client.call("GET", f"/partner/results?cursor={cursor}", known.test), 400, "invalid_cursor"
    )


@pytest.mark.parametrize("value", ["%00", "%FF", "%", "%zz"])
@pytest.mark.parametrize(
    ("target", "status", "reason", "extras"),
    [
        ("usage?to=20260101&from=", 400, "malformed_day", {"parameter": "from"}),
        ("seat-summary?from=20260101&to=", 400, "malformed_day", {"parameter": "to"}),
        ("invoices?status=", 400, "invoice_status_invalid", {}),
        ("tiers?gameId=", 403, "game_not_licensed", {}),
    ],
)
def test_a_value_that_is_not_text_is_refused_like_any_other_wrong_value(
    client: SyncClient,
    known: Partner,
    target: str,
    status: int,
    reason: str,
    extras: dict[str, str],
    value: str,
) -> None:
    reply = client.call("GET", f"/partner/{target}{value}", known.test)
    check_refusal(reply, status, reason, **extras)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/partner/seats/%00", "seat_not_found"),
        ("/partner/matches/a%00b", "match_not_found"),
        ("/partner/seats/%ff", None),
        ("/%00", None),
        ("/docs/%00", None),
        ("/docs/changelog.md%00", None),
        ("/partner/%00", None),
    ],
)
def test_a_path_with_odd_bytes_is_not_found(
    client: SyncClient, known: Partner, path: str, reason: str | None
) -> None:
    check_refusal(client.call("GET", path, known.test), 404, reason)


@pytest.mark.parametrize(
    "path",
    [
        "/embed/%00",
        "/embed/test/%00",
        "/embed/a%00b",
        "/embed/assets/%00",
        "/embed/%00/x",
        "/embed/pgs-embed.js%00",
    ],
)
def test_the_frame_of_an_unknown_partner_is_a_bare_404_for_any_name(
    client: SyncClient, path: str
) -> None:
    reply = client.call("GET", path)
    assert (reply.status, reply.content, reply.header("content-type")) == (404, b"", "text/plain")


def test_private_request_headers_change_nothing(client: SyncClient, known: Partner) -> None:
    headers = [
        ("X-Pgs-Request-Id", "req_mine"),
        ("X-Request-Id", "req_mine"),
        ("X-Pgs-Anything", "1"),
    ]
    reply = client.call("GET", "/partner/me", known.test, headers=headers)
    ok(reply)
    assert reply.header("x-request-id") != "req_mine"


def test_every_request_has_an_id_of_its_own(client: SyncClient, known: Partner) -> None:
    ids = {client.call("GET", "/partner/me", known.test).header("x-request-id") for _ in range(5)}
    assert len(ids) == 5


@pytest.mark.parametrize(
    "path", ["/partner/me", "/partner/nothing", "/docs/changelog.md", "/nothing"]
)
def test_a_connection_stays_open_for_a_body_that_arrives_after_the_answer(
    client: SyncClient, path: str
) -> None:
    where = urlsplit(client.next_url)
    with (
        socket.create_connection((where.hostname, where.port), timeout=PATIENCE_S) as sock,
        sock.makefile("rb") as received,
    ):
        for _ in range(3):
            sock.sendall(
                b"POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n" % path.encode()
            )
            assert received.readline().split()[1] in (b"404", b"405")
            length = 0
            while line := received.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.partition(b":")[2])
            assert length
            assert b"error" in received.read(length)
            sock.sendall(b"{}")
