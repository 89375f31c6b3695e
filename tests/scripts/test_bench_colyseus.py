"""The benchmarks give Colyseus the same conditions in every round, and count what it answers."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conventions.tree import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

from bench_cases.caller import Outcome

Call = Callable[..., Outcome]
CASES = ("cost", "rates", "reservations")
"""The modules that call a server."""


class Colyseus:
    """A stand-in for the server: it knows which calls it has answered."""

    name, address = "Colyseus", ("127.0.0.1", 1)

    def __init__(self, log: list[str]) -> None:
        self._log = log
        log.append("start")

    def cpu_s(self) -> float:
        return 0.001 * len(self._log)

    def stop(self) -> None:
        self._log.append("stop")


class Bench:
    """The cases of the benchmark, whose server is a stand-in."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log: list[str] = []
        self._patch = monkeypatch
        monkeypatch.setattr(self.case("servers"), "colyseus", lambda _: Colyseus(self.log))

    @staticmethod
    def case(name: str) -> Any:
        return importlib.import_module(f"bench_cases.{name}")

    def answer_with(self, call: Call) -> None:
        for name in CASES:
            self._patch.setattr(self.case(name), "call", call)

    def note(
        self,
        _: object,
        requests: Iterator[bytes],
        *,
        connections: int,
        check: Callable[[int, bytes], None] | None = None,
    ) -> Outcome:
        """Answer all requests with 200, and note how many there were."""
        paths = []
        for request in requests:
            paths.append(request.split()[1].decode().rpartition("/")[2])
            if check is not None:
                check(200, b"")
        counted = "many" if check is not None else str(len(paths))
        self.log.append(f"{counted} {paths[0]} over {connections}")
        return Outcome({200: len(paths)}, seconds=1.0)


def refuse_to_end(_: object, requests: Iterator[bytes], **__: object) -> Outcome:
    return Outcome({500 if any(b"after-pairs" in request for request in requests) else 200: 1})


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    made = Bench(monkeypatch)
    made.answer_with(made.note)
    return made


def test_each_round_has_a_new_colyseus_whose_rooms_of_the_warm_up_have_ended(
    bench: Bench, tmp_path: Path
) -> None:
    setting = bench.case("setting").Setting(tmp_path, tmp_path / "keys", [], rounds=2, calls=5)
    turns = [bench.case("launch").reserved(setting) for _ in range(2)]
    few, end = "5 pair over 32", "1 after-pairs over 1"
    assert bench.log == ["start", few, end, few, "stop"] * 2
    assert [round(turn.seat) for turn in turns] == [200, 200]


def test_rates_are_counted_window_by_window_on_a_warm_colyseus_without_rooms(
    bench: Bench, tmp_path: Path
) -> None:
    run = bench.case("rates").reserved(tmp_path, calls=5, seconds=0.3)
    ready = ["start", "5 pair over 128", "1 after-pairs over 1"]
    assert bench.log == [*ready, "many pair over 128", "stop"]
    assert len(run.rates) == 15
    # The stand-in answers immediately, so each 20 ms have many answers, as long as it runs at all.
    assert max(run.rates) > 1000
    assert run.late() <= max(run.rates)


def test_a_rate_that_fell_counts_as_it_is_at_the_end(bench: Bench) -> None:
    run = bench.case("rates").Run([900.0, *[500.0] * 9, 310.0, 290.0, 300.0, 320.0, 280.0], 1.0)
    assert (run.first(), run.late()) == (900.0, 300.0)


@pytest.mark.parametrize("case", ["launch", "rates"])
def test_a_colyseus_that_keeps_its_rooms_fails_the_case_and_is_stopped(
    case: str, bench: Bench, tmp_path: Path
) -> None:
    bench.answer_with(refuse_to_end)
    made = bench.case("setting")
    measured = {
        "launch": lambda: bench.case("launch").reserved(made.Setting(tmp_path, tmp_path, [], 1, 5)),
        "rates": lambda: bench.case("rates").reserved(tmp_path, calls=5, seconds=0.3),
    }
    with pytest.raises(made.Failed, match="did not end its rooms"):
        measured[case]()
    assert bench.log == ["start", "stop"]
