"""The benchmark of launches gives Colyseus the same conditions in every round."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conventions.tree import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

from bench_cases.caller import Outcome


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


@pytest.fixture
def launch() -> Any:
    return importlib.import_module("bench_cases.launch")


def test_each_round_has_a_new_colyseus_whose_rooms_of_the_warm_up_have_ended(
    launch: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log: list[str] = []

    def call(_: object, requests: Iterator[bytes], connections: int) -> Any:
        paths = [request.split()[1].decode().rpartition("/")[2] for request in requests]
        log.append(f"{len(paths)} {paths[0]} over {connections}")
        return Outcome({200: len(paths)}, seconds=1.0)

    monkeypatch.setattr(launch.servers, "colyseus", lambda _: Colyseus(log))
    monkeypatch.setattr(launch, "call", call)
    setting = launch.Setting(tmp_path, tmp_path / "keys", [], rounds=2, calls=5)
    turns = [launch.reserved(setting) for _ in range(2)]
    few, end, many = "5 pair over 32", "1 after-pairs over 1", f"5 pair over {launch.MANY}"
    assert log == ["start", few, end, few, end, many, "stop"] * 2
    assert [turn.seats_a_second for turn in turns] == [5.0, 5.0]
    assert [round(turn.seat) for turn in turns] == [200, 200]


def test_a_colyseus_that_keeps_its_rooms_fails_the_case_and_is_stopped(
    launch: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log: list[str] = []

    def call(_: object, requests: Iterator[bytes], **__: object) -> Any:
        ends = any(b"after-pairs" in request for request in requests)
        return Outcome({500 if ends else 200: 1}, seconds=1.0)

    monkeypatch.setattr(launch.servers, "colyseus", lambda _: Colyseus(log))
    monkeypatch.setattr(launch, "call", call)
    setting = launch.Setting(tmp_path, tmp_path / "keys", [], rounds=1, calls=5)
    with pytest.raises(launch.Failed, match="did not end its rooms"):
        launch.reserved(setting)
    assert log == ["start", "stop"]
