"""The breaker stops calls to a server that answers none, and tries it again less and less often."""

from pgs.actors.shared.circuit_breaker import BREAK_AFTER, OPEN_MAX_S, OPEN_MIN_S, Breaker

ITEMS = [f"sea_{number}" for number in range(BREAK_AFTER)]


def opened() -> Breaker:
    """Return a breaker that has opened at the second 0."""
    breaker = Breaker()
    for item in ITEMS:
        assert breaker.begin(item, 0.0)
    stopped = [breaker.unanswered(item, 0.0) for item in ITEMS]
    assert stopped == [*[None] * (BREAK_AFTER - 1), OPEN_MIN_S]
    return breaker


def test_calls_stop_after_enough_different_seats_in_a_row_without_an_answer() -> None:
    breaker = opened()
    assert breaker.state(0.0) == "open"
    assert not breaker.begin("sea_x", OPEN_MIN_S - 0.1)
    assert breaker.wait_s(0.5) == OPEN_MIN_S - 0.5


def test_an_answer_resets_the_count_of_unanswered_calls() -> None:
    breaker = Breaker()
    for item in ITEMS[:-1]:
        breaker.unanswered(item, 0.0)
    assert not breaker.answered()
    assert breaker.unanswered(ITEMS[-1], 0.0) is None
    assert breaker.state(0.0) == "closed"


def test_one_seat_that_never_finds_an_answer_stops_no_other() -> None:
    breaker = Breaker()
    for _ in range(10 * BREAK_AFTER):
        assert breaker.begin("sea_bad", 0.0)
        assert breaker.unanswered("sea_bad", 0.0) is None


def test_one_call_at_a_time_tries_the_server_and_an_answer_lets_all_through() -> None:
    breaker = opened()
    assert breaker.state(OPEN_MIN_S) == "half-open"
    assert breaker.begin("sea_1", OPEN_MIN_S)
    assert not breaker.begin("sea_2", OPEN_MIN_S)
    assert breaker.answered()
    assert breaker.begin("sea_2", OPEN_MIN_S)
    assert breaker.state(OPEN_MIN_S) == "closed"


def test_each_failed_try_doubles_the_pause_up_to_its_bound() -> None:
    breaker, now, pauses = opened(), OPEN_MIN_S, []
    for _ in range(7):
        assert breaker.begin("sea_1", now)
        stopped_s = breaker.unanswered("sea_1", now)
        assert stopped_s is not None
        pauses.append(stopped_s)
        now += stopped_s
    assert pauses == [4.0, 8.0, 16.0, OPEN_MAX_S, OPEN_MAX_S, OPEN_MAX_S, OPEN_MAX_S]


def test_a_call_that_began_before_the_break_and_fails_after_it_changes_nothing() -> None:
    breaker = opened()
    assert breaker.unanswered("sea_late", 1.0) is None
    assert breaker.wait_s(1.0) == OPEN_MIN_S - 1.0


def test_a_try_that_says_nothing_about_the_server_lets_another_call_try_it() -> None:
    breaker = opened()
    assert breaker.begin("sea_1", OPEN_MIN_S)
    breaker.abandoned("sea_1")
    assert breaker.begin("sea_2", OPEN_MIN_S)


def test_an_operator_can_let_calls_through_at_once() -> None:
    breaker = opened()
    breaker.reset()
    assert breaker.begin("sea_1", 0.1)
    assert breaker.unanswered("sea_1", 0.1) is None
