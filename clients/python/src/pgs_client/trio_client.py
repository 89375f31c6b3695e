"""The client for trio."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
import trio

from pgs_client import calls
from pgs_client.client import WAIT_S
from pgs_client.flows import (
    Call,
    Feed,
    Flow,
    LoadCursor,
    Lost,
    Pause,
    Request,
    Retries,
    Save,
    Step,
    Timeouts,
    attempt,
    read_on,
    wait_for_rows,
)
from pgs_client.records import (
    Account,
    Answer,
    Invoice,
    InvoicedMatch,
    InvoiceLine,
    Json,
    Match,
    Page,
    Readiness,
    Row,
    Seat,
    Session,
    Tier,
)
from pgs_client.settings import LOST, AnsweredAlready, SeenAnswers, Settings, answer_of
from pgs_client.store import FeedStore

T = TypeVar("T")


class _Body(httpx.AsyncByteStream):
    """A body in memory, without a generator.

    A call that is cancelled while it sends would leave a generator unfinished, and trio warns when
    such a generator is garbage-collected.
    """

    def __init__(self, content: bytes) -> None:
        self._rest = iter([content] if content else [])

    def __aiter__(self) -> "_Body":
        return self

    async def __anext__(self) -> bytes:
        for chunk in self._rest:
            return chunk
        raise StopAsyncIteration


class _Following(AsyncIterator[tuple[Row, ...]]):
    """The endless feed. It is not a generator, so a caller may leave its loop at any time."""

    def __init__(self, more: Callable[[], Awaitable[tuple[Row, ...]]]) -> None:
        self._more = more

    async def __anext__(self) -> tuple[Row, ...]:
        return await self._more()


class _Entries(AsyncIterator[T]):
    """The entries of a list, page by page."""

    def __init__(self, page_after: Callable[[str | None], Awaitable[Page[T]]]) -> None:
        self._page_after = page_after
        self._rest: Iterator[T] = iter(())
        self._cursor: str | None = None
        self._more = True

    async def __anext__(self) -> T:
        while True:
            for entry in self._rest:
                return entry
            if not self._more:
                raise StopAsyncIteration
            page = await self._page_after(self._cursor)
            self._rest, self._cursor = iter(page.items), page.next_cursor
            self._more = page.has_more and page.next_cursor is not None


class TrioClient:
    """Calls the service with one key. Tasks may share it. A call that fails raises `PgsError`.

    If the same call may succeed later, it is repeated before the error is raised. Close the client
    at the end, or use it in an `async with` statement. `transport` replaces the network, for tests.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        timeouts: Timeouts | None = None,
        retries: Retries | None = None,
        plain_http: bool = False,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._settings = Settings(
            base_url, key, timeouts or Timeouts(), retries or Retries(), plain_http
        )
        self._seen = SeenAnswers()
        self._http = httpx.AsyncClient(transport=transport, follow_redirects=False)

    def __repr__(self) -> str:
        return f"TrioClient({self._settings.base_url!r}, environment={self.environment!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    @property
    def environment(self) -> str:
        """The environment of the key: test or live."""
        return self._settings.environment

    async def me(self) -> Account:
        """Read the account and the environment of the key."""
        return await self.send(calls.me())

    async def tiers(self, game_id: str) -> tuple[Tier, ...]:
        """Read what a seat at a game costs and pays, for each tier on offer."""
        return await self.send(calls.tiers(game_id))

    async def readiness(self, game_id: str) -> Readiness:
        """Read every gate between the account and a seat at a game."""
        return await self.send(calls.readiness(game_id))

    async def mint(
        self,
        *,
        game_id: str,
        player_id: str,
        display_name: str | None = None,
        ttl_seconds: int | None = None,
    ) -> Session:
        """Get a session for a player's frame. It seats nobody and costs nothing."""
        return await self.send(calls.mint(game_id, player_id, display_name, ttl_seconds))

    async def seat(
        self,
        *,
        game_id: str,
        player_id: str,
        tier_id: str,
        stake_usd_cents: int,
        idempotency_key: str,
        partner_ref: str | None = None,
    ) -> Seat:
        """Take a paid seat, once for each idempotency key. Raises `StakeDeclined` among others.

        Store the key with the purchase before you call. After `NoAnswer` or `ServerFailure` the
        seat may exist: call again with the same key. A seat that is still `pending` after all tries
        is returned as it is; call again later.
        """
        return await self.send(
            calls.seat(game_id, player_id, tier_id, stake_usd_cents, idempotency_key, partner_ref)
        )

    async def read_seat(self, seat_id: str) -> Seat:
        """Read a seat as it is now."""
        return await self.send(calls.read_seat(seat_id))

    async def cancel(self, seat_id: str) -> Seat:
        """Take a waiting seat back; its stake is refunded. Raises `SeatNotWaiting`."""
        return await self.send(calls.cancel(seat_id))

    async def match(self, match_id: str) -> Match:
        """Read a match as it is now."""
        return await self.send(calls.match(match_id))

    async def decide(self, match_id: str, winner_player_id: str | None) -> Match:
        """End a test match with a winner, or as a draw for None. Needs a test key."""
        return await self.send(calls.decide(match_id, winner_player_id))

    async def call_off(self, match_id: str) -> Match:
        """End a test match without a contest: both stakes go back. Needs a test key."""
        return await self.send(calls.call_off(match_id))

    async def results(
        self,
        cursor: str | None = None,
        *,
        wait_s: int = 0,
        limit: int | None = None,
        since: int | None = None,
    ) -> Page[Row]:
        """Read a page of the feed. `follow` and `catch_up` do this with a store.

        Without a cursor, `since` (epoch seconds) begins at the first row that changed then or
        later.
        """
        return await self.send(calls.results(cursor, wait_s, limit, since))

    async def catch_up(self, store: FeedStore) -> int:
        """Read the feed to its end into a store; return how many rows were read."""
        read = 0
        while True:
            page = await self._run(read_on(self._feed(), 0), store)
            read += len(page.items)
            if not page.has_more:
                return read

    def follow(self, store: FeedStore, *, wait_s: int = WAIT_S) -> AsyncIterator[tuple[Row, ...]]:
        """Yield rows as they appear, after the store has taken them, until the caller stops.

        If a call fails and may succeed later, this method logs a warning, and tries again after a
        pause. It raises every other failure. If you act on rows, take them from the store: if
        your program ends before it has handled a yielded row, the row is not yielded again.
        """
        return _Following(lambda: self._run(wait_for_rows(self._feed(), wait_s), store))

    def invoices(
        self,
        *,
        from_day: str | None = None,
        to_day: str | None = None,
        status: str | None = None,
    ) -> AsyncIterator[Invoice]:
        """Yield the invoices, the newest first. Days are written yyyymmdd."""
        return self._entries(
            lambda cursor: calls.invoices(from_day, to_day, status, cursor),
        )

    async def invoice(self, invoice_id: str) -> Invoice:
        """Read an invoice."""
        return await self.send(calls.invoice(invoice_id))

    def invoice_lines(self, invoice_id: str) -> AsyncIterator[InvoiceLine]:
        """Yield the lines of an invoice."""
        return self._entries(lambda cursor: calls.invoice_lines(invoice_id, cursor))

    def line_matches(self, invoice_id: str, line_id: str) -> AsyncIterator[InvoicedMatch]:
        """Yield the matches that a line bills."""
        return self._entries(lambda cursor: calls.line_matches(invoice_id, line_id, cursor))

    async def usage(self, from_day: str, to_day: str) -> Json:
        """Read how many matches each final day has, and their money. Returns the JSON unchanged."""
        return await self.send(calls.usage(from_day, to_day))

    async def seat_summary(self, from_day: str, to_day: str) -> Json:
        """Read what became of the seats of some final days; the JSON is returned unchanged."""
        return await self.send(calls.seat_summary(from_day, to_day))

    async def digest(self, from_day: str, to_day: str) -> Json:
        """Read a hash of each final day's rows of the feed; the JSON is returned unchanged."""
        return await self.send(calls.digest(from_day, to_day))

    async def theme(self) -> Json:
        """Read the theme of the frame; the JSON is returned unchanged."""
        return await self.send(calls.theme())

    async def write_theme(self, fields: Json) -> Json:
        """Replace the test theme of the frame. Omitted fields go back to their defaults."""
        return await self.send(calls.write_theme(fields))

    async def send(self, call: Call[T]) -> T:
        """Carry out a call that a function of `pgs_client.calls` has returned."""
        return await self._run(attempt(call, self._settings.timeouts, self._settings.retries))

    def _entries(self, page_after: Callable[[str | None], Call[Page[T]]]) -> AsyncIterator[T]:
        return _Entries(lambda cursor: self.send(page_after(cursor)))

    def _feed(self) -> Feed:
        return Feed(calls.results, self._settings.timeouts, self._settings.retries)

    async def _run(self, flow: Flow[T], store: FeedStore | None = None) -> T:
        try:
            step = next(flow)
            while True:
                step = flow.send(await self._carry_out(step, store))
        except StopIteration as ended:
            result: T = ended.value
            return result

    async def _carry_out(self, step: Step, store: FeedStore | None) -> Any:
        match step:
            case Request():
                return await self._exchange(step)
            case Pause(seconds):
                await trio.sleep(seconds)
            case LoadCursor() if store is not None:
                return await trio.to_thread.run_sync(store.cursor)
            case Save(rows, cursor) if store is not None:
                await trio.to_thread.run_sync(store.save, rows, cursor)
        return None

    async def _exchange(self, request: Request) -> Answer | Lost:
        began = trio.current_time()
        prepared = httpx.Request(
            request.method,
            self._settings.url(request),
            headers=self._settings.headers(request),
            content=request.content,
            extensions=self._settings.extensions(request),
        )
        prepared.stream = _Body(request.content or b"")
        try:
            response = await self._http.send(prepared)
        except LOST as error:
            return Lost(error)
        if self._seen.came_before(response):
            return Lost(AnsweredAlready())
        return answer_of(response, trio.current_time() - began)
