"""The load scripts report what they measured, what they checked, and why they stopped early."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conventions.tree import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

from bench_cases.caller import Outcome
from bench_cases.waits import Waits
from game_load.report import section
from game_load.round import Figures
from load.command import Run, Script, carry_out
from load.story import Ending, Load, LoadFailed, Mix
from load.times import LONGEST_US, Times

STAKE, PRIZE = 100, 180


class OneService:
    """A service that pairs seats and pays at once. It refuses all seats from `refused_from` on."""

    def __init__(self, refused_from: int = 1000) -> None:
        self._refused_from = refused_from
        self._seats: list[str] = []  # players in the order of their seats
        self._rows: list[dict[str, Any]] = []

    async def mint(self, partner_id: str, player_id: str) -> None:
        """Do nothing."""

    async def seat(self, partner_id: str, player_id: str, idempotency_key: str) -> dict[str, Any]:
        if player_id not in self._seats:
            if len(self._seats) >= self._refused_from:
                raise LoadFailed("POST /partner/matches: 429 too many calls")
            self._seats.append(player_id)
        number = self._seats.index(player_id)
        return {"seatId": f"sea_{number}", "matchId": f"mat_{number // 2}" if number % 2 else None}

    async def decide(self, partner_id: str, match_id: str, ending: Ending) -> None:
        first = 2 * int(match_id.removeprefix("mat_"))
        for number in (first, first + 1):
            won = self._seats[number] == ending.winner
            result = "drawn" if ending.winner is None else "won" if won else "lost"
            row: dict[str, Any] = {
                "matchId": match_id,
                "playerId": self._seats[number],
                "seatId": f"sea_{number}",
                "revision": 1,
                "outcome": ending.outcome,
                "result": result if ending.outcome == "ended" else None,
                "payoutUsdCents": PRIZE if won else 0,
                "refundUsdCents": STAKE if ending.winner is None else 0,
                "rakeUsdCents": 2 * STAKE - PRIZE if result == "lost" else 0,
            }
            self._rows.append(row)

    async def feed(self, partner_id: str, cursor: str | int) -> tuple[list[dict[str, Any]], int]:
        return self._rows[int(cursor or 0) :], len(self._rows)


def _run(service: OneService) -> Run:
    async def run(tick: Callable[[], None]) -> tuple[Load, list[str]]:
        mix = Mix(rate=200, seconds=0.1, poll_every_s=0.01, decided=1.0, seed=1)
        load = Load(service, ["acme"], STAKE, mix, tick)
        await load.run()
        return load, []

    return run


def test_a_load_that_is_refused_is_reported_with_its_times_and_its_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, picture = tmp_path / "report.json", tmp_path / "times.svg"
    script = Script("load_http", 20, PRIZE)
    assert carry_out(script, _run(OneService(refused_from=7)), report, picture) == 1
    found = json.loads(report.read_text(encoding="utf-8"))
    assert found["failure"] == "POST /partner/matches: 429 too many calls"
    assert (found["checked"], found["faults"]) == ([], [])
    assert found["timesMs"]["seat"]["calls"] == 7
    assert "seat, p99" in picture.read_text(encoding="utf-8")
    told = capsys.readouterr()
    assert "429 too many calls" in told.err
    assert told.out.splitlines()[-1].endswith(
        "Nothing was checked, because the load could not go on."
    )


def test_a_second_load_on_one_service_checks_its_own_matches_alone(tmp_path: Path) -> None:
    service, report = OneService(), tmp_path / "report.json"
    for _ in range(2):
        assert carry_out(Script("load_http", 20, PRIZE), _run(service), report, None) == 0
        found = json.loads(report.read_text(encoding="utf-8"))
        assert (found["faults"], found["matches"]) == ([], 20)


def test_a_load_that_never_began_is_reported_without_a_picture(tmp_path: Path) -> None:
    async def run(tick: Callable[[], None]) -> tuple[Load, list[str]]:
        raise LoadFailed("the service did not start")

    report, picture = tmp_path / "report.json", tmp_path / "times.svg"
    assert carry_out(Script("load_http", 20, PRIZE), run, report, picture) == 1
    assert json.loads(report.read_text(encoding="utf-8"))["failure"] == "the service did not start"
    assert not picture.exists()


@pytest.mark.parametrize(
    ("unchecked", "checked", "last"),
    [
        ("", 2, "Checked: the feed's rows and money, and the ledger."),
        ("nobody may read it", 1, "Not checked: the ledger, because nobody may read it."),
    ],
)
def test_the_last_line_says_what_was_checked_and_what_was_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], unchecked: str, checked: int, last: str
) -> None:
    report = tmp_path / "report.json"
    script = Script("load_http", 20, PRIZE, unchecked)
    assert carry_out(script, _run(OneService()), report, None) == 0
    found = json.loads(report.read_text(encoding="utf-8"))
    assert (len(found["checked"]), len(found["notChecked"])) == (checked, 2 - checked)
    assert found["failure"] is None
    assert capsys.readouterr().out.splitlines()[-1].endswith(last)


def test_times_of_several_rounds_are_counted_together() -> None:
    first, second, all_rounds = Times(), Times(), Times()
    first.add("move", 0.001)
    second.add("move", 1000.0)
    for each in (first, second):
        all_rounds.include("move", each)
    found = all_rounds.report()["move"]
    assert found["calls"] == 2
    assert found["p100"] == pytest.approx(LONGEST_US / 1000, rel=0.01), "the longest that is kept"


def _figures(think_s: float, times: float) -> Figures:
    """Return figures that grow with `times`; without thinking p99 is 10 ms for 1."""
    p99 = 10 * times + 100 * think_s
    return Figures(
        matches=8,
        think_s=think_s,
        moves=200,
        handshakes_s=times,
        play_s=times,
        recorded_s=times,
        moves_ms={"calls": 200, "p50": p99 / 2, "p90": p99 / 2, "p99": p99, "p100": p99},
        pace=[200 / times] * 10,
        cpu_s=times / 2,
        bots_cpu_s=times / 4,
        idle_mb=100,
        open_mb=100 + times,
        peak_mb=120,
        faults=[],
    )


def test_the_section_about_matches_states_medians_of_its_rounds() -> None:
    rounds = [_figures(think_s, times) for times in (1, 9, 2) for think_s in (0, 0.5)]
    text = " ".join(section(rounds, ["chess"]).split())
    assert "There are 3 rounds for each row of the table" in text
    assert "| 0 s | 200 | 2.0 | 100 | 10.0 | 20.0 | 50% | 5.00 | 25% |" in text
    assert "| 0.5 s | 200 | 2.0 | 100 | 35.0 | 70.0 | 50% | 5.00 | 25% |" in text
    assert "(256 kB for a match with its two sockets)" in text


def test_the_wait_at_half_the_highest_rate_is_the_median_of_its_runs() -> None:
    runs = []
    for milliseconds in (2, 30, 5):
        runs.append(Outcome())
        runs[-1].times_us.record_value(1000 * milliseconds)
    assert Waits([1.0, 2.0, 3.0], runs, [1.0]).half_us(99) == pytest.approx(5000, rel=0.01)
