"""Carries out the journey file with either client for Python."""

import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from pgs_client import Client, Retries, ServiceError, SqliteStore, Timeouts
from pgs_client.trio_client import TrioClient

TIMEOUTS = Timeouts(answer_s=1.0)
RETRIES = Retries(tries=10, first_pause_s=0.02, longest_pause_s=0.2)

_CALLS = {
    "readSeat": "read_seat",
    "catchUp": "catch_up",
}
_POSITIONAL = {"tiers", "readiness", "read_seat", "cancel", "match", "decide"}

Do = Callable[..., Awaitable[Any]]


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


class Traveller:
    """One client on its journey. `do` makes a call by its name; `follow` waits for rows."""

    def __init__(self, journey: Mapping[str, Any], run: str, store: SqliteStore) -> None:
        self._journey, self._run, self._store = journey, run, store
        self._kept: dict[str, Any] = {}

    async def travel(self, do: Do, follow: Do) -> None:
        """Carry out all rounds. Raises AssertionError for the first step that goes wrong."""
        for number in range(self._journey["rounds"]):
            for step in self._journey["steps"]:
                name = _CALLS.get(step["call"], step["call"])
                if name == "follow":
                    await self._follow(follow, self._filled(step["rows"], number))
                elif name == "catch_up":
                    await do("catch_up", self._store)
                    assert len(self._store.rows()) == (number + 1) * step["rowsInAll"]
                else:
                    await self._call(do, name, self._filled(step, number))

    async def _call(self, do: Do, name: str, step: Mapping[str, Any]) -> None:
        given = {_snake(field): value for field, value in step.get("with", {}).items()}
        make = partial(do, name, *given.values()) if name in _POSITIONAL else partial(do, name)
        named = {} if name in _POSITIONAL else given
        if "throws" in step:
            with pytest.raises(ServiceError) as raised:
                await make(**named)
            codes = (raised.value.reason, type(raised.value).code)
            assert codes == (step["throws"], step["throws"]), raised.value
            _holds(raised.value.fields, step.get("fields", {}), step)
            return
        got = await make(**named)
        if "first" in step:
            got = got[0]
        if "gets" in step or "first" in step:
            wire = {**getattr(got, "raw", {}), "replayed": getattr(got, "replayed", None)}
            _holds(wire, {**step.get("gets", {}), **step.get("first", {})}, step)
            self._kept |= {name: wire[field] for name, field in step.get("keep", {}).items()}

    async def _follow(self, follow: Do, wanted: list[dict[str, Any]]) -> None:
        def is_missing(row: Mapping[str, Any]) -> bool:
            found = self._store.row(row["matchId"], row["playerId"])
            return found is None or found.payout_usd_cents is None

        while any(is_missing(row) for row in wanted):
            await follow(self._store)
        for row in wanted:
            found = self._store.row(row["matchId"], row["playerId"])
            assert found is not None
            _holds(found.raw, row, row)

    def _filled(self, value: Any, number: int) -> Any:
        match value:
            case str() if value.startswith("$"):
                return self._kept[value[1:]]
            case str():
                return value.replace("{run}", self._run).replace("{round}", str(number))
            case dict() as fields:
                return {
                    name: each if name == "keep" else self._filled(each, number)
                    for name, each in fields.items()
                }
            case list():
                return [self._filled(each, number) for each in value]
        return value


def _holds(got: Mapping[str, Any], wanted: Mapping[str, Any], step: object) -> None:
    differing = {name: got.get(name) for name, value in wanted.items() if got.get(name) != value}
    assert not differing, f"{step} got {differing}"


async def travel_with_threads(file: Path, base_url: str, key: str, store: SqliteStore) -> None:
    """Carry out the journey with `Client`."""
    with Client(base_url, key, timeouts=TIMEOUTS, retries=RETRIES) as client:

        async def do(name: str, *args: Any, **named: Any) -> Any:
            make = partial(getattr(client, name), *args, **named)
            return await trio.to_thread.run_sync(
                (lambda: list(make())) if name == "invoices" else make
            )

        news = client.follow(store, wait_s=1)

        async def follow(_: SqliteStore) -> None:
            await trio.to_thread.run_sync(next, news)

        await Traveller(_journey(file), "threads", store).travel(do, follow)


async def travel_with_trio(file: Path, base_url: str, key: str, store: SqliteStore) -> None:
    """Carry out the journey with `TrioClient`."""
    async with TrioClient(base_url, key, timeouts=TIMEOUTS, retries=RETRIES) as client:

        async def do(name: str, *args: Any, **named: Any) -> Any:
            made = getattr(client, name)(*args, **named)
            return [each async for each in made] if name == "invoices" else await made

        news = client.follow(store, wait_s=1)

        async def follow(_: SqliteStore) -> None:
            await anext(news)

        await Traveller(_journey(file), "trio", store).travel(do, follow)


def _journey(file: Path) -> Mapping[str, Any]:
    journey: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return journey
