"""The admin of the cluster's torture notices a node that shows an old price or revision."""

import importlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE_S

SCRIPTS = Path(__file__).parents[2] / "scripts"

pytestmark = pytest.mark.torture


class Account:
    """An account at two addresses; the second one may lag behind by a write."""

    def __init__(self) -> None:
        self.revision, self.price, self.lag = 1, 100, 0
        self.lost = 0  # so many writes are done, and not answered
        self.falls = False  # once, from revision 3 to 1
        self.enough = threading.Event()

    def write(self, seen: str, price: int) -> tuple[int, Any]:
        if seen != str(self.revision):
            return 409, {"reason": "partner_changed"}
        self.revision, self.price = self.revision + 1, price
        if self.falls and self.revision == 3:
            self.revision, self.falls = 1, False
        if self.revision > 3:
            self.enough.set()
        if self.lost:
            self.lost -= 1
            return 503, None
        return 200, {"prices": {"live-bronze": price}}

    def read(self, path: str, behind: bool) -> Any:
        lag = self.lag if behind else 0
        if path.endswith("/account"):
            return {"revision": self.revision}
        return {"prices": {"live-bronze": self.price - lag}}


def serve(account: Account, behind: bool) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            status, told = 200, {"secret": "JBSWY3DPEHPK3PXP" * 2}
            if self.command == "PUT":
                price = json.loads(body)["prices"]["live-bronze"]
                status, told = account.write(self.headers["if-match"], price)
            elif self.command == "GET":
                told = account.read(self.path, behind)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(told).encode())

        do_GET = do_POST = do_PUT = answer  # noqa: N815  the names that http.server calls

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.fixture
def account() -> Account:
    return Account()


@pytest.fixture
def member(account: Account, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    module = importlib.import_module("cluster_torture.member")
    monkeypatch.setattr(module, "PAUSE_S", 0.001)
    servers = [serve(account, behind) for behind in (False, True)]
    proxy, node = (f"127.0.0.1:{server.server_port}" for server in servers)
    yield module.Member("acme", "token", proxy, {"n1": node})
    for server in servers:
        server.shutdown()
        server.server_close()


def work(member: Any, account: Account) -> list[str]:
    """Let the admin write a few prices; return what it has found."""
    member.start()
    assert account.enough.wait(PATIENCE_S), member.found
    member.stop()
    member.join()
    member.look()
    return list(member.found)


def test_an_admin_finds_nothing_wrong_where_every_node_shows_what_was_acknowledged(
    member: Any, account: Account
) -> None:
    assert work(member, account) == []
    assert member.acknowledged >= 2


def test_an_admin_notices_a_node_that_shows_an_old_price(member: Any, account: Account) -> None:
    account.lag = 1
    assert "n1 shows the price 100 of acme: 101 was set" in work(member, account)


def test_a_write_without_an_answer_is_repeated_and_counted_once(
    member: Any, account: Account
) -> None:
    account.lost = 1
    assert work(member, account) == []
    assert member.repeated == 1
    assert member.acknowledged == account.revision - 1


def test_an_admin_notices_a_revision_that_falls_back(member: Any, account: Account) -> None:
    account.falls = True
    assert "acme was at revision 3, and is at 1" in work(member, account)
