"""Which moves a match accepts, and when its clocks start."""

import pytest

from pgs.domain.play import START_AFTER_MS, Attendance, Move, judge

PLAYED = (Move(0, 0, "a1", 1, (30, 30)), Move(1, 1, "b1", 2, (30, 30)))
RIGHT = {
    "over": False,
    "played": PLAYED,
    "side": 0,
    "turn": 0,
    "legal": ("c1", "a2"),
    "ply": 2,
    "move": "c1",
}


@pytest.mark.parametrize(
    ("wrong", "verdict"),
    [
        ({}, "play"),
        ({"over": True, "ply": 0, "side": 1, "move": "zz"}, "match_over"),
        ({"ply": 0, "move": "a1"}, "ignore"),
        ({"ply": 0, "move": "a1", "turn": 1}, "ignore"),
        ({"ply": 0, "move": "b1"}, "stale_ply"),
        ({"ply": 1, "move": "b1"}, "stale_ply"),
        ({"ply": 3, "turn": 1, "move": "zz"}, "stale_ply"),
        ({"ply": -1}, "stale_ply"),
        ({"ply": 2**62}, "stale_ply"),
        ({"turn": 1, "move": "zz"}, "not_your_turn"),
        ({"move": "a1"}, "illegal_move"),
        ({"move": ""}, "illegal_move"),
    ],
)
def test_the_first_fault_in_order_is_returned(wrong: dict[str, object], verdict: str) -> None:
    assert judge(**{**RIGHT, **wrong}) == verdict  # type: ignore[arg-type]  # fields by name


def test_the_clocks_start_with_the_second_player() -> None:
    presence = Attendance().seen(1, None, 1_000)
    assert (presence.came_ms, presence.clocks_ms) == ((None, 1_000), None)
    assert presence.start_due() == 1_000 + START_AFTER_MS
    both = presence.seen(0, None, 9_000)
    assert (both.came_ms, both.clocks_ms, both.start_due()) == ((9_000, 1_000), 9_000, None)


def test_a_player_who_is_seen_again_changes_nothing() -> None:
    presence = Attendance().seen(0, "Ann", 1_000)
    assert presence.seen(0, "Ann", 2_000) is presence
    assert presence.seen(0, None, 2_000) is presence


def test_a_player_may_come_back_under_another_name() -> None:
    presence = Attendance().seen(0, "Ann", 1_000).seen(0, "Anna", 2_000)
    assert (presence.came_ms[0], presence.names) == (1_000, ("Anna", None))


def test_clocks_that_run_for_one_player_are_not_started_again() -> None:
    alone = Attendance((1_000, None), 61_000)
    assert alone.start_due() is None
    assert alone.seen(1, None, 70_000).clocks_ms == 61_000


def test_the_clocks_of_a_match_to_which_nobody_came_do_not_start() -> None:
    assert Attendance().start_due() is None
