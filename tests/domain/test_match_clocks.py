"""The clocks of a running match."""

import pytest

from pgs.domain.match_clocks import MatchClock, TimeControl, restarted

TURN = TimeControl(30_000)
SIDE = TimeControl(300_000, per_turn=False, increment_ms=3_000)


@pytest.mark.parametrize(("spent", "runs_out"), [(0, False), (30_000, False), (30_001, True)])
def test_a_turn_is_over_after_its_last_millisecond(spent: int, runs_out: bool) -> None:
    assert MatchClock(TURN.full(), since_ms=5_000).has_run_out(0, 5_000 + spent) == runs_out


def test_a_stopped_clock_never_runs_out() -> None:
    clock = MatchClock(TURN.full())
    assert clock.deadline(0) is None
    assert not clock.has_run_out(0, 10**15)
    assert clock.shown(0, 10**15) == TURN.full()


def test_every_turn_has_the_whole_allowance() -> None:
    assert TURN.after_move(TURN.full(), 0, 29_000) == (30_000, 30_000)


def test_a_side_pays_for_its_own_moves_and_gains_the_increment() -> None:
    left = SIDE.after_move(SIDE.full(), 0, 10_000)
    assert left == (293_000, 300_000)
    assert SIDE.after_move(left, 1, 1_000) == (293_000, 302_000)


def test_a_clock_never_goes_below_zero() -> None:
    assert SIDE.after_move((500, 300_000), 0, 900) == (3_000, 300_000)
    assert MatchClock((500, 300_000), since_ms=0).shown(0, 900) == (0, 300_000)


def test_only_the_time_of_the_side_to_move_runs_down() -> None:
    assert MatchClock((10_000, 20_000), since_ms=1_000).shown(1, 4_000) == (10_000, 17_000)


def test_an_outage_costs_neither_side_any_time() -> None:
    assert restarted((7_000, 20_000), running=True, now_ms=900_000).deadline(0) == 907_000
    assert restarted((7_000, 20_000), running=False, now_ms=900_000).deadline(0) is None
