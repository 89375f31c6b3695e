"""The caller of the benchmark repeats what a node asks it to repeat, and nothing else."""

import importlib
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.conventions.tree import ROOT

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
LATER = b"HTTP/1.1 503 No\r\nRetry-After: 0\r\nContent-Length: 2\r\n\r\nno"
BROKEN = b"HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno"


@pytest.fixture
def caller(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module("bench_cases.caller")


@contextmanager
def answering(*answers: bytes) -> Iterator[tuple[tuple[str, int], list[bytes]]]:
    """Run a server that gives these answers in turn, then OK; yield its address and requests."""
    left, seen = list(answers), list[bytes]()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            while request := self.request.recv(4096):
                seen.append(request)
                self.request.sendall(left.pop(0) if left else OK)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield ("127.0.0.1", server.server_address[1]), seen
        finally:
            server.shutdown()
            thread.join()


def test_a_request_that_no_node_serves_just_then_is_repeated_unchanged(caller: Any) -> None:
    checked: list[int] = []
    with answering(LATER, OK, LATER, LATER) as (address, seen):
        requests = [caller.post(address, "/", body) for body in (b"one", b"two", b"three")]
        outcome = caller.call(
            address, iter(requests), connections=1, check=lambda status, _: checked.append(status)
        )
    assert (outcome.statuses, outcome.repeated, outcome.bad()) == ({200: 3}, 3, 0)
    assert checked == [200] * 3
    assert {request: seen.count(request) for request in requests}.keys() == set(seen)
    assert len(seen) == 6


def test_another_503_and_one_that_never_ends_are_refusals(
    caller: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caller, "REPEATS_MAX", 2)
    with answering(BROKEN, LATER, LATER, LATER) as (address, seen):
        requests = [caller.post(address, "/", body) for body in (b"one", b"two")]
        outcome = caller.call(address, iter(requests), connections=1)
    assert (outcome.statuses, outcome.repeated, outcome.bad()) == ({503: 2}, 2, 2)
    assert seen == [requests[0], *[requests[1]] * 3]
