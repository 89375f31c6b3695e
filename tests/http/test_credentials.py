"""The dispatcher with credentials other than API keys, with streams, and with WebSockets."""

from pathlib import Path
from typing import Any

import pytest

from pgs.http.api.dispatcher import Dispatcher
from pgs.http.pages import make_pages
from tests.http.credentials_app import DEFAULT, ENDED, LONG_UID, TABLE, by_name, open_app_client
from tests.http.raw import HANDSHAKE, ServeApp, error_of, raw_request
from tests.http.sockets import OFFER, closed, until


async def test_the_authenticator_for_the_rows_credential_gives_the_caller_to_the_handler(
    serve_app: ServeApp, tmp_path: Path
) -> None:
    async with open_app_client(serve_app, tmp_path) as f:
        assert (await f.ask("GET /partner/admin/account"))[::2] == (
            200,
            {"who": "ann for /partner/admin/account", "words": {}},
        )
        assert (await f.ask("GET /game/session"))[::2] == (
            200,
            {"who": "ann for /game/session", "words": {}},
        )
        assert (await f.ask("GET /open", "refused"))[::2] == (200, {"who": None, "words": {}})


async def test_admin_calls_carry_the_current_version_and_game_calls_carry_none(
    serve_app: ServeApp, tmp_path: Path
) -> None:
    async with open_app_client(serve_app, tmp_path) as f:
        for who in ("ann", "refused", "signed out", "bug"):
            _, headers, _ = await f.ask(
                "GET /partner/admin/account", who, "X-Service-Api-Version: 99"
            )
            assert headers["x-service-api-version"] == "1"
            for path in ("/game/session", "/open"):
                assert "x-service-api-version" not in (await f.ask(f"GET {path}", who))[1]


@pytest.mark.parametrize(
    ("who", "status", "body"),
    [
        ("refused", 403, "role_forbidden"),
        ("signed out", 401, "sign_in_required"),
        ("nobody", 401, None),
        ("closed", 500, "registry_unavailable"),
        ("outage", 500, "registry_unavailable"),
        ("locked", 429, "step_up_locked"),
        ("malformed", 400, None),
        ("bug", 500, None),
        ("crash", 500, None),
    ],
)
async def test_a_call_that_the_authenticator_refuses_reaches_no_handler_and_its_body_is_not_read(
    serve_app: ServeApp, tmp_path: Path, who: str, status: int, body: str | None
) -> None:
    async with open_app_client(serve_app, tmp_path) as f:
        for line, content in (
            ("GET /partner/admin/account", b""),
            ("POST /partner/admin/keys", b"no json"),
        ):
            got, headers, said = await f.ask(line, who, body=content)
            assert (got, said.get("reason")) == (status, body)
            assert headers.get("www-authenticate") == ("Bearer" if status == 401 else None)
            assert headers.get("retry-after") == ("7" if who == "locked" else None)


@pytest.mark.parametrize("who", ["closed", "outage", "bug", "crash"])
async def test_every_failure_to_check_a_session_token_is_a_503(
    serve_app: ServeApp, tmp_path: Path, who: str
) -> None:
    async with open_app_client(serve_app, tmp_path) as f:
        status, _, said = await f.ask("GET /game/session", who)
        assert (status, said["reason"]) == (503, "registry_unavailable")


async def test_a_row_may_answer_a_reason_with_its_second_status(
    serve_app: ServeApp, tmp_path: Path
) -> None:
    async with open_app_client(serve_app, tmp_path) as f:
        assert (await f.ask("GET /partner/admin/unenrolled"))[0] == 403
        assert (await f.ask("GET /partner/admin/verify"))[0] == 409


@pytest.mark.parametrize(
    ("word", "uid"),
    [
        ("u%2F" + "%C3%A9" * 120, LONG_UID),
        ("a%7Cb", "a|b"),
        ("%2e%2e", ".."),
        ("x" * 255, "x" * 255),
        ("auth0%7c1%252F2", "auth0|1%2F2"),
    ],
)
async def test_a_path_is_split_into_segments_before_it_is_decoded(
    serve_app: ServeApp, tmp_path: Path, word: str, uid: str
) -> None:
    async with open_app_client(serve_app, tmp_path) as f:
        status, _, said = await f.ask(f"GET /partner/admin/members/{word}")
        assert (status, said["words"]) == (200, {"uid": uid})
        for other in (
            f"/partner/admin/members/{word}/x",
            "/partner/admin/members/",
            "/partner/admin/members/%ff",
        ):
            assert (await f.ask(f"GET {other}"))[0] == 404


async def test_a_path_may_allow_longer_bodies_than_others(
    serve_app: ServeApp, tmp_path: Path
) -> None:
    async with open_app_client(serve_app, tmp_path) as f:
        for length, path, method, status in (
            (DEFAULT, "/partner/admin/keys", "POST", 200),
            (DEFAULT + 1, "/partner/admin/keys", "POST", 413),
            (2 * DEFAULT, "/partner/admin/theme/live", "PUT", 200),
            (2 * DEFAULT + 1, "/partner/admin/theme/live", "PUT", 413),
            (DEFAULT + 1, "/partner/admin/theme/live/x", "PUT", 413),
        ):
            assert (await f.ask(f"{method} {path}", body=b'{"what": "x"}'.ljust(length)))[
                0
            ] == status, (length, path)


async def test_a_handler_sees_the_requests_headers(serve_app: ServeApp, tmp_path: Path) -> None:
    async with open_app_client(serve_app, tmp_path) as f:
        _, _, said = await f.ask(
            "POST /partner/admin/keys", "ann", 'If-Match: "7"', body=b'{"what": "x"}'
        )
        assert said["words"] == {"if-match": '"7"'}


async def test_a_stream_goes_on_until_its_client_leaves_its_producer_ends_or_the_service_stops(
    serve_app: ServeApp, tmp_path: Path
) -> None:
    async with open_app_client(serve_app, tmp_path) as f:
        whole = b"data: 0\n\ndata: 1\n\ndata: 2\n\n"
        async with await f.server.client() as client:
            answer = await client.get("/partner/admin/live?end=1")
            assert (answer.status, answer.headers["content-type"], answer.body) == (
                200,
                "text/event-stream",
                whole,
            )
        ENDED.clear()
        async with await f.server.client() as client:
            await client.send(raw_request("GET /partner/admin/live HTTP/1.1"))
            await client.until(b"data: 2")
        await until(lambda: bool(ENDED))
        async with await f.server.client() as client:
            await client.send(raw_request("GET /partner/admin/live HTTP/1.1"))
            await client.until(b"data: 2")
            f.app.end_streams()
            await client.until(b"\r\n0\r\n\r\n")
            # A stream that begins after the stop ends at once, on this connection and on another.
            assert whole.startswith((await client.get("/partner/admin/live")).body)
        async with await f.server.client() as client:
            assert whole.startswith((await client.get("/partner/admin/live")).body)


def test_a_row_whose_credential_has_no_authenticator_is_a_value_error() -> None:
    nothing: Any = None
    with pytest.raises(ValueError, match="session"):
        Dispatcher(nothing, TABLE, make_pages(), authenticators={"identity": by_name})


async def test_a_websocket_is_served_at_its_path_and_closed_by_a_stop(
    serve_app: ServeApp, tmp_path: Path
) -> None:
    async with open_app_client(serve_app, tmp_path) as f, await f.server.client() as client:
        answer = await client.ask(HANDSHAKE % b"/game/socket" + OFFER + b"\r\n")
        assert answer.status == 101
        assert f.sockets.count == 1
        await f.sockets.close_all()
        assert await client.frame() == closed(1001)


@pytest.mark.parametrize(
    "path",
    [
        "/game/nothing",
        "/game/socket/",
        "/game/%73ocket",
        "/partner/me",
        "/docs/changelog.md",
        "/game/session",
    ],
)
async def test_any_other_handshake_is_a_404_in_the_error_shape(
    serve_app: ServeApp, tmp_path: Path, path: str
) -> None:
    async with open_app_client(serve_app, tmp_path) as f, await f.server.client() as client:
        answer = await client.ask(HANDSHAKE % path.encode() + OFFER + b"\r\n")
        assert (answer.status, answer.headers["x-request-id"]) == (404, "req_1")
        assert error_of(answer)
        assert await client.end() == b""


async def test_a_plain_request_of_a_sockets_path_is_told_to_upgrade(
    serve_app: ServeApp, tmp_path: Path
) -> None:
    async with open_app_client(serve_app, tmp_path) as f:
        status, headers, said = await f.ask("GET /game/socket")
        assert (status, headers["upgrade"], said.keys()) == (426, "websocket", {"error"})
        status, headers, said = await f.ask("POST /game/socket")
        assert (status, headers["allow"], said.keys()) == (405, "GET", {"error"})
