"""When a stream of `GET live` ends, on a virtual clock.

It ends when its token expires or its reader loses access, and writes nothing after that.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.messages.account.members import AcceptInvite, ChangeRole, RemoveMember
from pgs.actors.shared.activity import SUBSCRIBERS_LIMIT, ActivityEvent
from pgs.domain.errors import Refusal
from pgs.domain.roles import rule_of
from pgs.http.admin import live
from pgs.http.admin.authorization import AdminCall, Caller
from pgs.http.api.endpoint import Stream
from pgs.http.api.services import Services
from pgs.http.identity.tokens import Identity
from tests.actors.people import ask, invite, join
from tests.actors.ready_core import ReadyCore, ready_core
from tests.virtual import START

LONG = START + 10**9


class StreamReader:
    """Reads a stream, and records when each piece was written and when the stream ended.

    `pause_s`: the seconds that a slow reader takes for each piece.
    """

    def __init__(self, pause_s: float = 0) -> None:
        self.pieces: list[tuple[float, bytes]] = []
        self.ended_at: float | None = None
        self._pause_s = pause_s

    async def write(self, piece: bytes) -> None:
        self.pieces.append((trio.current_time(), piece))
        await trio.sleep(self._pause_s)

    async def read(self, stream: Stream) -> None:
        try:
            await stream.produce(self.write)
        finally:
            stream.close()
        self.ended_at = trio.current_time()


async def watch(s: ReadyCore, uid: str, expires_at: int | float) -> Stream:
    context = Services(s.core, "http://service")
    caller = Caller(
        Identity(uid, f"{uid}@acme.example", expires_at),
        rule_of("GET", "/partner/admin/live"),
        s.parts.registry.member(uid),
    )
    answer = await live.subscribe(
        AdminCall(context, caller, {}, {"environment": "test"}, None, "req_1")
    )
    assert isinstance(answer, Stream), answer
    return answer


@asynccontextmanager
async def chatter(s: ReadyCore, every_s: float) -> AsyncIterator[None]:
    """Cause an activity event every `every_s` seconds while the block runs."""

    async def talk() -> None:
        while True:
            s.parts.activity.tell(
                "acme", "test", ActivityEvent("seat", s.parts.clock.now(), {"seatId": "sea_1"})
            )
            await trio.sleep(every_s)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(talk)
        yield
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("expires_in_s", [1, 7, 7.25, 49])
async def test_a_stream_ends_when_its_token_expires_and_sends_nothing_after_that(
    tmp_path: Path, autojump_clock: MockClock, expires_in_s: float
) -> None:
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        reader = StreamReader()
        expires_at = trio.current_time() + expires_in_s
        async with chatter(s, 0.1):
            await reader.read(await watch(s, "ada", START + expires_at))
        assert reader.ended_at == pytest.approx(expires_at, abs=0.01)
        assert len(reader.pieces) > 5 * expires_in_s, "events arrived until then"
        assert reader.pieces[-1][0] < expires_at
        assert not s.parts.activity.has_subscribers("acme", "test")


async def test_a_stream_ends_after_its_lifetime_when_the_token_lasts_longer(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        reader, began = StreamReader(), trio.current_time()
        await reader.read(
            await watch(s, "ada", 10**400)
        )  # more than a float can hold, which a token may contain
        assert reader.ended_at == pytest.approx(began + live.LIFE_S, abs=0.01)


@pytest.mark.parametrize("expires_in_s", [0, -1])
async def test_a_stream_whose_token_has_already_expired_sends_nothing(
    tmp_path: Path, autojump_clock: MockClock, expires_in_s: int
) -> None:
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        reader = StreamReader()
        await reader.read(await watch(s, "ada", s.parts.clock.now() + expires_in_s))
        assert [piece for _, piece in reader.pieces if b"event:" in piece] == []
        assert reader.ended_at == trio.current_time()


async def test_a_slow_reader_gets_no_piece_that_was_begun_after_the_token_expired(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        reader, expires_at = StreamReader(pause_s=0.4), trio.current_time() + 5
        async with chatter(s, 0.01):  # 40 events for each piece that is read
            await reader.read(await watch(s, "ada", START + expires_at))
        assert reader.pieces[-1][0] < expires_at
        assert reader.ended_at is not None
        assert reader.ended_at < expires_at + 0.5


async def _removed(s: ReadyCore) -> None:
    await ask(s, RemoveMember("ben", "ada"))


async def _in_another_account(s: ReadyCore) -> None:
    await s.open_partner("other")
    await ask(s, RemoveMember("ben", "ada"))
    made = await invite(s, "ada@acme.example", "admin", "other")
    assert not isinstance(
        await ask(s, AcceptInvite("ada", "ada@acme.example", made.invite_id), "other"), Refusal
    )


async def _registry_too_old(s: ReadyCore) -> None:
    # The registry is replaced by one that is always closed.
    s.parts.registry.is_closed = lambda now: True  # type: ignore[method-assign]


@pytest.mark.parametrize("change", [_removed, _in_another_account, _registry_too_old])
async def test_a_stream_ends_within_a_second_of_a_change_that_excludes_its_reader(
    tmp_path: Path, autojump_clock: MockClock, change: Callable[[ReadyCore], Awaitable[None]]
) -> None:
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        await join(s, "ben")
        reader = StreamReader()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(reader.read, await watch(s, "ada", LONG))
            await trio.sleep(10.3)
            assert s.parts.activity.has_subscribers("acme", "test"), "the stream ended too early"
            await change(s)
            changed_at = trio.current_time()
            s.parts.activity.tell("acme", "test", ActivityEvent("seat", 0, {"seatId": "too late"}))
        assert reader.ended_at is not None
        assert reader.ended_at <= changed_at + live.LOOK_S
        assert not any(b"too late" in piece for _, piece in reader.pieces)


async def test_a_new_role_that_may_still_read_the_stream_does_not_end_it(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        await join(s, "ben")
        reader, began = StreamReader(), trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(reader.read, await watch(s, "ada", LONG))
            await trio.sleep(10)
            await ask(s, ChangeRole("ben", "ada", "viewer"))
        assert reader.ended_at == pytest.approx(began + live.LIFE_S, abs=0.01)


async def test_a_stream_takes_a_place_when_its_call_is_answered_and_gives_it_back_at_its_end(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        streams = [await watch(s, "ada", LONG) for _ in range(SUBSCRIBERS_LIMIT)]
        # All of them were promised a stream before any of them has begun.
        with pytest.raises(AssertionError, match="rate_limited"):
            await watch(s, "ada", LONG)
        streams.pop().close()  # its client left before it began
        streams.append(await watch(s, "ada", LONG))
        reader = StreamReader()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(reader.read, streams[-1])
            await trio.sleep(2)
            assert [b"event: budget" in piece for _, piece in reader.pieces] == [False, True]
            nursery.cancel_scope.cancel()
        for stream in streams[:-1]:
            stream.close()
        assert not s.parts.activity.has_subscribers("acme", "test")
