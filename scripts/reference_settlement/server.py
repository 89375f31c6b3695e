"""The reference settlement server: it serves the interface, and causes faults on request.

Every connection serves one request.
"""

import hmac
import time
from collections.abc import Callable

import h11
import msgspec
import trio
from reference_settlement.books import Books, Charge, Payout, Refused, Status
from reference_settlement.faults import BadFault, Luck, parse

REQUEST_S = 10.0
BODY_MAX = 4096
HOLD_S = 1.0  # the longest hold of an answer that is to come out of order, in seconds

Answer = tuple[int, object]  # status, body


class Cut(Exception):
    """The connection is to be closed without an answer."""


class Server:
    """Serves the books. `luck` decides about faults, and its faults can be changed at any time."""

    def __init__(self, books: Books, token: str, luck: Luck) -> None:
        self._books = books
        self._authorization = f"Bearer {token}".encode()
        self._luck = luck
        self._answered = trio.Event()

    async def serve(self, stream: trio.SocketStream) -> None:
        """Serve one connection."""
        with trio.move_on_after(REQUEST_S + 60):
            try:
                request, body = await _read(stream)
                await self._answer(stream, request, body)
            except (Cut, h11.RemoteProtocolError, trio.BrokenResourceError):
                pass
        await trio.aclose_forcefully(stream)

    async def _answer(self, stream: trio.SocketStream, request: h11.Request, body: bytes) -> None:
        headers = {bytes(name): bytes(value) for name, value in request.headers}
        path = request.target.decode("ascii", "replace")
        if not hmac.compare_digest(headers.get(b"authorization", b""), self._authorization):
            await stream.send_all(_encode(401, {"error": "wrong token"}))
            return
        noun = path.split("/")[1]
        if noun not in ("charges", "payouts"):
            await stream.send_all(_encode(*self._control(request.method, path, body)))
            return
        luck = self._luck
        if luck.hits("slow"):
            await trio.sleep(luck.seconds("slow"))
        if luck.hits("cut-before"):
            raise Cut
        fails = luck.hits("500")
        if fails and luck.coin():
            await stream.send_all(_encode(500, {"error": "on demand"}))
            return
        answer = _encode(*self._act(request.method, path, headers, body))
        if luck.hits("cut-after"):
            raise Cut
        if fails:
            answer = _encode(500, {"error": "on demand, after it acted"})
        elif luck.hits("garbage"):
            answer = luck.garbage()
        if luck.hits("out-of-order"):
            with trio.move_on_after(HOLD_S):
                await self._answered.wait()
        await stream.send_all(answer * (2 if luck.hits("twice") else 1))
        self._answered.set()
        self._answered = trio.Event()

    def _act(self, method: bytes, path: str, headers: dict[bytes, bytes], body: bytes) -> Answer:
        now = time.time()
        _, noun, *rest = path.split("/")
        try:
            if method == b"GET" and len(rest) == 1:
                return _found(self._find(noun, rest[0], now))
            if method != b"POST" or rest:
                return 404, {"error": "no such call"}
            wanted: Charge | Payout = (
                msgspec.json.decode(body, type=Charge)
                if noun == "charges"
                else msgspec.json.decode(body, type=Payout)
            )
            if headers.get(b"idempotency-key", b"").decode("ascii", "replace") != wanted.key:
                return 400, {"error": "the idempotency key is not that of the body"}
            return 200, {"status": self._make(wanted, now)}
        except msgspec.MsgspecError as error:
            return 400, {"error": str(error)}
        except Refused as error:
            return 409, {"error": str(error)}

    def _make(self, wanted: Charge | Payout, now: float) -> Status:
        luck = self._luck
        ready_at = now + luck.seconds("pending") if luck.hits("pending") else now
        if isinstance(wanted, Payout):
            return self._books.pay(wanted, "confirmed", ready_at, now)
        outcome = "declined" if luck.hits("decline") else "confirmed"
        # mypy infers `str` for `outcome`, although both texts are values of `Outcome`.
        return self._books.charge(wanted, outcome, ready_at, now)  # type: ignore[arg-type]

    def _find(self, noun: str, name: str, now: float) -> Status | None:
        if noun == "charges":
            return self._books.find_charge(name, now)
        match_id, _, seat_id = name.partition(":")
        return self._books.find_payout(match_id, seat_id, now)

    def _control(self, method: bytes, path: str, body: bytes) -> Answer:
        if (method, path) == (b"GET", "/ledger"):
            return 200, self._books.report()
        if path != "/faults" or method not in (b"GET", b"PUT"):
            return 404, {"error": "no such call"}
        if method == b"PUT":
            try:
                self._luck.faults = parse(msgspec.json.decode(body, type=list[str]))
            except (msgspec.MsgspecError, BadFault) as error:
                return 400, {"error": str(error)}
        faults = self._luck.faults.items()
        return 200, {"faults": [f"{name}={one.share}:{one.seconds}" for name, one in faults]}


async def serve(
    books: Books, token: str, luck: Luck, host: str, port: int, say: Callable[[str], None]
) -> None:
    """Serve until cancelled; `say` is called with the address."""
    listeners = await trio.open_tcp_listeners(port, host=host)
    at = listeners[0].socket.getsockname()[1]
    say(f"http://{host}:{at}")
    await trio.serve_listeners(Server(books, token, luck).serve, listeners)


async def _read(stream: trio.SocketStream) -> tuple[h11.Request, bytes]:
    connection, request, body = h11.Connection(h11.SERVER), None, b""
    with trio.move_on_after(REQUEST_S):
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await stream.receive_some(65536))
            elif isinstance(event, h11.Request):
                request = event
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
                if len(body) > BODY_MAX:
                    raise Cut
            elif isinstance(event, h11.EndOfMessage) and request is not None:
                return request, body
            else:
                raise Cut
    raise Cut


def _found(status: Status | None) -> Answer:
    return (404, {"error": "never heard of"}) if status is None else (200, {"status": status})


def _encode(status: int, body: object) -> bytes:
    content = msgspec.json.encode(body)
    return b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n" % (
        status,
        len(content),
    ) + (b"Connection: close\r\n\r\n" + content)
