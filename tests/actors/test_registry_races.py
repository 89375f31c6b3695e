"""A reading of the accounts during a change by an actor does not take it for one by others."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock, wait_all_tasks_blocked

from pgs.actors.kernel.mail import Interrupted
from pgs.actors.maintenance.registers import follow_others, refresh_registry
from pgs.actors.messages.account.settings import AddOrigin
from pgs.actors.shared import registry as registry_module
from pgs.domain.accounts import Account
from pgs.storage.bulk import read_in_bulk
from pgs.storage.transactions import Outcome, OutcomeUnknown, Tx
from tests.actors.ready_core import ReadyCore, ready_core

Chore = Callable[[Any, Any], Awaitable[None]]

COMMAND = AddOrigin("ops", "test", "https://acme.example")
NEXT = AddOrigin("ops", "live", "https://acme.example")

both_readings = pytest.mark.parametrize("reading", [follow_others, refresh_registry])


class SlowToTell:
    """A writer that commits at once, and tells of it once `told` is set.

    `lost`: it then says that the outcome is unknown.
    """

    def __init__(self, writer: Any, *, lost: bool = False) -> None:
        self._writer = writer
        self._lost = lost
        self.told = trio.Event()

    async def submit(self, tx: Tx) -> Outcome:
        """Commit, and return the outcome once `told` is set, or raise `OutcomeUnknown`."""
        outcome: Outcome = await self._writer.submit(tx)
        await self.told.wait()
        if self._lost:
            raise OutcomeUnknown("a test said so")
        return outcome


@asynccontextmanager
async def slow_to_tell(s: ReadyCore, *, lost: bool = False) -> AsyncIterator[SlowToTell]:
    """Replace the writer for a block."""
    database = s.parts.database
    real = database.writer
    writer = SlowToTell(real, lost=lost)
    vars(database)["writer"] = writer
    try:
        yield writer
    finally:
        vars(database)["writer"] = real


def _events(lines: list[Any]) -> list[str]:
    return [line["event"] for line in lines if line["event"].startswith("account_")]


@both_readings
async def test_a_commit_that_its_actor_has_not_heard_of_is_no_change_by_others(
    tmp_path: Path, autojump_clock: MockClock, reading: Chore
) -> None:
    async with ready_core(tmp_path) as s, slow_to_tell(s) as writer:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(s.partner().account().ask, COMMAND)
            await wait_all_tasks_blocked()
            before = s.parts.registry.version
            with capture_logs() as lines:
                await reading(s.parts, s.core.directory)
            assert _events(lines) == []
            assert s.parts.registry.version == before
            writer.told.set()
        assert s.account().origins["test"] == ("https://acme.example",)
        assert s.parts.registry.version == before + 1


@both_readings
async def test_a_commit_that_is_published_during_the_reading_is_no_change_by_others(
    tmp_path: Path,
    autojump_clock: MockClock,
    monkeypatch: pytest.MonkeyPatch,
    reading: Chore,
) -> None:
    async with ready_core(tmp_path) as s, slow_to_tell(s) as writer:

        async def slowly(*args: Any) -> Any:
            read = await read_in_bulk(*args)
            writer.told.set()
            await wait_all_tasks_blocked()
            assert s.account().origins["test"]
            return read

        monkeypatch.setattr(registry_module, "read_in_bulk", slowly)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(s.partner().account().ask, COMMAND)
            await wait_all_tasks_blocked()
            with capture_logs() as lines:
                await reading(s.parts, s.core.directory)
        assert _events(lines) == []


@both_readings
async def test_a_commit_that_was_not_confirmed_is_found_and_blamed_on_nobody(
    tmp_path: Path, autojump_clock: MockClock, reading: Chore
) -> None:
    async with ready_core(tmp_path) as s:
        async with slow_to_tell(s, lost=True) as writer:
            writer.told.set()
            with pytest.raises(Interrupted):
                await s.partner().account().ask(COMMAND)
        assert s.account().origins["test"] == ()
        with capture_logs() as lines:
            await reading(s.parts, s.core.directory)
            await reading(s.parts, s.core.directory)
        assert _events(lines) == ["account_commit_found"]
        assert s.account().origins["test"] == ("https://acme.example",)
        again = await s.partner().account().ask(NEXT)
        assert isinstance(again, Account)
        assert again.origins["test"] == ("https://acme.example",)


@both_readings
async def test_a_commit_that_was_not_confirmed_is_found_during_the_next_one(
    tmp_path: Path,
    autojump_clock: MockClock,
    monkeypatch: pytest.MonkeyPatch,
    reading: Chore,
) -> None:
    async with ready_core(tmp_path) as s:
        async with slow_to_tell(s, lost=True) as writer:
            writer.told.set()
            with pytest.raises(Interrupted):
                await s.partner().account().ask(COMMAND)
        async with slow_to_tell(s) as writer, trio.open_nursery() as nursery:

            async def slowly(*args: Any) -> Any:
                read = await read_in_bulk(*args)
                nursery.start_soon(s.partner().account().ask, NEXT)
                await wait_all_tasks_blocked()
                return read

            monkeypatch.setattr(registry_module, "read_in_bulk", slowly)
            with capture_logs() as lines:
                await reading(s.parts, s.core.directory)
            assert _events(lines) == ["account_commit_found"]
            writer.told.set()
        assert s.account().origins["live"] == ("https://acme.example",)
