"""Opening a connection to PostgreSQL blocks no other thread, and ends in time."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

import pytest

from pgs.storage.postgres import connecting
from pgs.storage.postgres.connecting import connect
from pgs.storage.transactions import StoreOutage

NO_ENCRYPTION = "sslmode=disable&gssencmode=disable"

# What a server says that ends the session: severity, the same untranslated, code, message.
_FIELDS = b"SFATAL\0VFATAL\0C57P03\0Mit is closing time\0\0"
_REFUSAL = b"E" + (len(_FIELDS) + 4).to_bytes(4, "big") + _FIELDS


def refuse(client: socket.socket) -> None:
    """Refuse a session once its first message has come."""
    client.recv(4096)
    client.sendall(_REFUSAL)


def be_silent(client: socket.socket) -> None:
    """Say nothing until the client has gone."""
    while client.recv(4096):
        pass


@contextmanager
def server(answer: Callable[[socket.socket], None], host: str = "127.0.0.1") -> Iterator[int]:
    """Run a server in another thread of this process; yield its port."""
    with socket.create_server((host, 0)) as listener:

        def serve() -> None:
            client, _ = listener.accept()
            with client:
                answer(client)

        thread = Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


def test_other_threads_run_while_a_connection_is_being_opened() -> None:
    # The server is one of them: it could not answer if the client held the interpreter's lock.
    with (
        server(refuse) as port,
        pytest.raises(StoreOutage, match="it is closing time"),
    ):
        connect(f"postgresql://pgs@127.0.0.1:{port}/pgs?{NO_ENCRYPTION}", "pgs trial")


def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "CONNECT_S", 0.2)
    with (
        server(be_silent) as port,
        pytest.raises(StoreOutage, match=r"127\.0\.0\.1 has not answered within 0\.2 s"),
    ):
        connect(f"postgresql://pgs@127.0.0.1:{port}/pgs?{NO_ENCRYPTION}", "pgs trial")


def test_every_address_of_a_name_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(host: str, *_: object, **__: object) -> list[tuple[object, ...]]:
        assert host == "db.example"
        return [(0, 0, 0, "", (address, 0)) for address in ("127.0.0.2", "127.0.0.1", "127.0.0.1")]

    monkeypatch.setattr(connecting, "getaddrinfo", look_up)
    with (
        server(refuse) as port,
        pytest.raises(StoreOutage) as refused,
    ):
        connect(f"postgresql://pgs@db.example:{port}/pgs?{NO_ENCRYPTION}", "pgs trial")
    assert str(refused.value).count("Connection refused") == 1
    assert str(refused.value).count("it is closing time") == 1


def test_a_name_without_an_address_is_an_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(*_: object, **__: object) -> list[tuple[object, ...]]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(connecting, "getaddrinfo", look_up)
    with pytest.raises(StoreOutage, match=r"db\.example: .*Name or service not known"):
        connect("postgresql://pgs@db.example/pgs", "pgs trial")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://pgs@/pgs?host=/nowhere",
        "postgresql://pgs@db.example/pgs?hostaddr=127.0.0.1&port=1",
    ],
)
def test_no_name_is_looked_up_that_libpq_does_not_need(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(connecting, "getaddrinfo")
    with pytest.raises(StoreOutage, match="cannot be reached: connection to server"):
        connect(url, "pgs trial")


def test_an_address_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(StoreOutage, match="PGS_DATABASE_URL"):
        connect("postgresql://pgs@db.example/pgs?nonsense=1", "pgs trial")
