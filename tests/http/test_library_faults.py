"""Faults of the libraries that this service uses, and the tests that show that they stay fixed.

`INDEX` lists each fault with its tests; a test fails if one of them is renamed or removed. Tests
that fit into no other file follow after it.
"""

import ast
import functools
import http
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
import quart
import trio
from quart_trio import QuartTrio

import pgs
import pgs.http.transport.listener
import pgs.public
from pgs.http.pages import make_pages
from tests.http.apps import edge
from tests.http.raw import Client, ServeApp, error_of, raw_request, serving
from tests.journeys.client import ok
from tests.journeys.partners import seat_body
from tests.journeys.service import in_process, until
from tests.journeys.test_expiry_and_switching_off import HeldSettlement
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]

INDEX: dict[str, tuple[str, ...]] = {
    "1. an upgrade with a body, early bytes, a bad deflate window or an 8-bit header ended "
    "the process": (
        "http/test_server.py::test_a_hostile_client_ends_no_connection_but_its_own",
        "http/test_server.py::test_an_impossible_upgrade_is_answered_as_a_plain_request",
        "http/test_server.py::test_after_an_early_frame_the_handler_learns_that_the_client_is_gone",
        "http/test_server.py::test_an_exception_of_the_application_affects_its_connection_only",
        "http/test_server.py::test_a_fault_of_the_protocol_affects_its_connection_only",
    ),
    "2. writes were shielded and unbounded, so that a client that never reads pinned its "
    "handler and the stop": (
        "http/test_server.py::test_a_client_that_never_reads_is_cut_off",
        "http/test_server.py::test_a_client_that_reads_slowly_gets_everything",
        "http/test_stop.py::test_a_stop_takes_no_longer_than_promised_whatever_clients_do",
        "http/test_sockets_clients.py"
        "::test_a_client_that_never_reads_is_disconnected_and_its_sender_never_waits",
    ),
    "3. an idle connection was never closed once a Quart application had answered on it": (
        "http/test_server_bounds.py::test_an_idle_connection_is_closed_after_a_request_too",
    ),
    "4. a loop of sends to a client that had left never let another task run": (
        "http/test_server.py::test_a_loop_of_sends_to_a_client_that_left_freezes_nobody",
        "http/test_server_bounds.py::test_a_quart_handler_that_sends_in_a_loop_freezes_nobody",
        "http/test_sockets_clients.py"
        "::test_a_loop_of_sends_to_a_client_that_left_ends_and_freezes_nobody",
    ),
    "5. compression was always offered, and what it unpacks to was unbounded": (
        "http/test_protocols.py::test_websocket_compression_is_never_agreed_to",
    ),
    "6. ambiguous lengths, foreign forms of the target, odd methods and versions, endless "
    "heads and HTTP/2 in clear text passed": (
        "http/test_heads.py::test_a_malformed_request_is_refused_and_its_connection_closed",
        "http/test_heads.py::test_an_unusual_but_valid_request_passes",
        "http/test_heads.py::test_a_malformed_websocket_handshake_is_refused_in_the_same_way",
        "http/test_protocols.py::test_http2_in_clear_text_is_not_accepted",
    ),
    "7. the parser's own refusals carry nothing of ours, and a header for all responses "
    "would also be on those that must not have it": (
        "http/test_heads.py"
        "::test_a_refusal_of_the_parser_is_stamped_and_counted_like_other_answers",
        "http/test_edge.py::test_only_answers_under_partner_and_embed_carry_the_version",
    ),
    "8. the read timeout also ends silent WebSockets, and does not end a body that drips": (
        "http/test_server_bounds.py"
        "::test_a_silent_websocket_is_closed_and_one_that_answers_pings_is_not",
        "http/test_edge.py::test_a_body_that_arrives_slowly_is_answered_with_408",
        "http/test_server_bounds.py::test_a_request_head_that_drips_is_cut_off",
    ),
    "9. a body was bounded only where it was read, JSON was read leniently or broke the "
    "handler, and errors were HTML": (
        "http/test_edge.py::test_a_body_whose_announced_length_is_too_long_is_refused_unread",
        "http/test_edge.py"
        "::test_a_body_that_grows_too_long_is_refused_whatever_the_application_does",
        "http/test_pages.py::test_an_unknown_path_is_a_404_in_the_error_shape",
        "http/test_library_faults.py"
        "::test_a_page_that_reads_a_body_with_quart_never_answers_with_html",
        "http/test_library_faults.py::test_no_handler_has_quart_read_its_json",
        "journeys/test_bodies.py::test_a_body_that_is_no_json_object_is_a_plain_400",
        "journeys/test_bodies.py::test_every_endpoint_refuses_a_repeated_name",
    ),
    "10. a client that left, or only closed its half, cancelled what it had asked for": (
        "http/test_server_bounds.py::test_a_handler_learns_that_its_client_left_and_may_go_on",
        "http/test_server_bounds.py::test_a_client_that_has_sent_everything_may_close_its_half",
        "http/test_library_faults.py::test_a_requested_seat_is_taken_even_if_the_client_leaves",
        "faults/test_crashes.py::test_a_client_that_disconnects_does_not_undo_its_call",
    ),
    "11. a crash of a task in Quart's nursery is logged and nothing else, so nothing that "
    "matters may live in it": (
        "http/test_library_faults.py::test_a_crash_in_quarts_nursery_takes_no_actor_down",
    ),
    "12. a WebSocket that failed closed with 1000, clients were not told of a stop, sizes were in "
    "characters, any subprotocol was accepted, and a handler that was not reading noticed no "
    "disconnect": (
        "http/test_sockets.py::test_an_exception_of_the_handler_is_1011_and_logged_once",
        "http/test_edge_crashes.py::test_a_websocket_carries_its_request_id_and_fails_with_1011",
        "http/test_sockets.py::test_at_a_stop_every_open_socket_is_told_before_the_listener_stops",
        "http/test_sockets_clients.py::test_a_message_is_bounded_in_bytes",
        "http/test_sockets.py::test_a_subprotocol_that_was_not_offered_is_never_chosen",
        "http/test_sockets_clients.py"
        "::test_a_handler_that_never_reads_is_ended_when_its_client_leaves",
        "http/test_sockets_clients.py::test_a_hundred_abandoned_sockets_leave_no_task_behind",
        "http/test_sockets_clock.py::test_messages_that_a_client_has_not_taken_are_bounded",
        "http/test_sockets.py"
        "::test_a_refused_handshake_gets_an_ordinary_answer_and_ends_the_connection",
    ),
    "12a. a frame that breaks the protocol ended the connection without a close frame": (
        "http/test_sockets_clients.py"
        "::test_a_protocol_error_gets_its_close_code_and_crashes_nothing",
    ),
    "12b. a message that was too long was refused only once it had ended, if ever": (
        "http/test_sockets_clients.py::test_a_message_that_is_too_long_need_not_end_to_be_refused",
        "http/test_protocols.py"
        "::test_an_oversized_websocket_message_reaches_the_application_truncated",
    ),
    "12c. a segment full of empty frames was processed without letting another task run": (
        "http/test_sockets.py::test_a_segment_full_of_empty_frames_leaves_room_for_others",
    ),
    "13. a package called http hides the standard library's": (
        "http/test_library_faults.py"
        "::test_no_package_of_ours_hides_the_http_of_the_standard_library",
        "http/test_library_faults.py"
        "::test_the_command_line_starts_from_any_folder_that_is_not_a_package",
    ),
}


@functools.cache
def _tests_in(file: Path) -> frozenset[str]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(
        node.name for node in ast.parse(file.read_text()).body if isinstance(node, functions)
    )


@pytest.mark.parametrize("fault", INDEX, ids=lambda fault: fault.split(".")[0])
def test_every_fault_has_its_tests(fault: str) -> None:
    for named in INDEX[fault]:
        file, _, name = named.partition("::")
        assert name.startswith("test_")
        assert name in _tests_in(ROOT / "tests" / file), (
            f"{named} is gone: which test shows that this stays fixed?\n{fault}"
        )


def test_no_fault_is_forgotten() -> None:
    numbers = {fault.split(".")[0] for fault in INDEX}
    assert {str(number) for number in range(1, 14)} <= numbers
    assert all(INDEX.values())


# 9


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"", 400),
        (b'{"a": "\xff"}', 500),
        (b"[" * 60_000, 500),
        (b'{"a": 1}'.ljust(60_001), 413),
        (b'{"a": NaN}', 200),
        (b'{"a": 1, "a": 2}', 200),
    ],
    ids=[
        "malformed",
        "empty",
        "bad utf-8",
        "deep",
        "over a bound of Quart's",
        "NaN",
        "duplicate keys",
    ],
)
async def test_a_page_that_reads_a_body_with_quart_never_answers_with_html(
    serve_app: ServeApp, body: bytes, status: int
) -> None:
    """Quart accepts some invalid JSON and fails on some bodies, so no endpoint reads JSON with it.

    Pages that Quart serves still answer in the error shape.
    """
    pages = make_pages()
    pages.config["MAX_CONTENT_LENGTH"] = 60_000

    @pages.post("/json")
    async def _json() -> dict[str, int]:
        return {"keys": len(await quart.request.get_json(force=True))}

    async with serving(serve_app, edge(pages)) as server, await server.client() as client:
        answer = await client.ask(
            raw_request("POST /json HTTP/1.1", f"Content-Length: {len(body)}") + body
        )
        assert answer.status == status
        assert answer.headers["content-type"] == "application/json"
        if status != 200:
            assert error_of(answer)


def test_no_handler_has_quart_read_its_json() -> None:
    for file in (ROOT / "src/pgs").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            assert not (isinstance(node, ast.Attribute) and node.attr == "get_json"), file


# 10


@pytest.mark.parametrize("how", ["half-close", "close", "reset"])
async def test_a_requested_seat_is_taken_even_if_the_client_leaves(
    serve_app: ServeApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(pgs.http.transport.listener, "serve", serve_app)
    held = HeldSettlement()
    async with in_process(tmp_path, settlement=held) as service:
        key = (await service.partner()).test
        body = (
            b'{"playerId":"alice","gameId":"tic-tac-toe","tierId":"bronze",'
            b'"stakeUsdCents":100,"idempotencyKey":"one"}'
        )
        stream = await trio.open_tcp_stream(
            "127.0.0.1", int(service.public.base_url.rpartition(":")[2])
        )
        async with Client(_socket_stream(stream)) as client:
            head = raw_request(
                "POST /partner/matches HTTP/1.1",
                f"Authorization: Bearer {key}",
                f"Content-Length: {len(body)}",
            )
            await client.send(head + body)
            await until(lambda: held.asked == 1)
            if how == "half-close":
                await client.stream.send_eof()
            elif how == "reset":
                client.stream.setsockopt(
                    trio.socket.SOL_SOCKET, trio.socket.SO_LINGER, b"\1\0\0\0\0\0\0\0"
                )
            if how != "half-close":
                await trio.aclose_forcefully(client.stream)
            await trio.sleep(
                0.05
            )  # By now the server knows that the client has left, if it ever notices.
            held.released.set()
            if how == "half-close":
                assert (await client.answer()).status == 200
        reply = await service.public.call(
            "POST", "/partner/matches", key, seat_body("alice", "one")
        )
        assert ok(reply)["status"] == "waiting"
        assert reply.header("idempotent-replayed") == "true"
        assert held.asked == 1


def _socket_stream(stream: trio.abc.Stream) -> trio.SocketStream:
    assert isinstance(stream, trio.SocketStream)
    return stream


# 11


async def test_a_crash_in_quarts_nursery_takes_no_actor_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crashed = trio.Event()

    def pages_with_a_crash(*made_of: Any) -> QuartTrio:
        pages = make_pages(*made_of)

        async def crash() -> None:
            await ready.wait()
            crashed.set()
            raise ValueError("a background task of the pages")

        @pages.before_serving
        async def _start() -> None:
            pages.nursery.start_soon(crash)

        return pages

    ready = trio.Event()
    monkeypatch.setattr(pgs.public, "make_pages", pages_with_a_crash)
    async with in_process(tmp_path) as service:
        key = (await service.partner()).test
        ok(await service.public.call("POST", "/partner/matches", key, seat_body("alice", "one")))
        cells = len(service.core.parts.system.cells)
        assert cells > 0
        ready.set()
        with trio.fail_after(PATIENCE_S):
            await crashed.wait()
        await trio.sleep(0.05)
        assert len(service.core.parts.system.cells) == cells
        reply = await service.public.call("POST", "/partner/matches", key, seat_body("bob", "two"))
        assert ok(reply)["status"] == "matched"


# 13


def test_no_package_of_ours_hides_the_http_of_the_standard_library() -> None:
    assert Path(http.__file__).is_relative_to(sysconfig.get_path("stdlib"))
    assert http.HTTPStatus(200).name == "OK"
    package = Path(pgs.__file__).parent
    assert package.resolve() not in {Path(entry).resolve() for entry in sys.path}


@pytest.mark.parametrize("folder", ["", "src", "tests"])
def test_the_command_line_starts_from_any_folder_that_is_not_a_package(folder: str) -> None:
    """`python -m` searches the working folder before the standard library."""
    command = [sys.executable, "-m", "pgs", "--help"]
    done = subprocess.run(
        command, cwd=ROOT / folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "serve" in done.stdout
