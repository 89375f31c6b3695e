"""The rules of the lease, on a virtual clock: runs of nodes that pause, lose beats and observe."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.leases import (
    GAP_S,
    HEARTBEAT_S,
    HOLD_S,
    TAKE_S,
    Beat,
    Last,
    Sightings,
    answers_from,
    is_fresh,
    may_end,
    starts_of,
)

ONE = Beat("n1", 7, 1)
EPOCH = 4  # how often the shard of these tests was taken
LOOKS_S = 0.25
"""Seconds between two looks of an observer in these tests."""


def test_an_observer_waits_longer_than_a_node_answers_after_its_last_beat() -> None:
    assert HEARTBEAT_S < HOLD_S < TAKE_S
    assert GAP_S < TAKE_S


@pytest.mark.parametrize(("after", "fresh"), [(0.0, True), (1.49, True), (1.5, False)])
def test_a_node_answers_from_memory_for_a_second_and_a_half_after_a_beat(
    after: float, fresh: bool
) -> None:
    assert is_fresh(100.0 + after, 100.0) is fresh


def test_a_node_without_a_committed_beat_answers_nothing_from_memory() -> None:
    assert not is_fresh(0.0, None)


def watch(beat: Beat, start: float, end: float, before: Sightings | None = None) -> Sightings:
    """Return the sightings of an observer that looks at the same beat from `start` to `end`."""
    sightings, now = before or Sightings(), start
    while now < end:
        sightings = sightings.look([beat], now, {0: EPOCH})
        now += LOOKS_S
    return sightings.look([beat], end, {0: EPOCH})


def test_a_node_may_be_ended_once_its_beat_has_stood_still_for_two_seconds() -> None:
    almost = watch(ONE, 10.0, 11.99)
    assert not may_end(almost, "n1", me="n2", fresh=True)
    assert may_end(almost.look([ONE], 12.0), "n1", me="n2", fresh=True)


def test_a_node_that_may_not_answer_from_memory_itself_ends_nobody() -> None:
    assert not may_end(watch(ONE, 10.0, 13.0), "n1", me="n2", fresh=False)


def test_no_node_ends_itself() -> None:
    assert not may_end(watch(ONE, 10.0, 13.0), "n1", me="n1", fresh=True)


def test_an_observer_that_was_away_forgets_what_it_saw() -> None:
    early = watch(ONE, 10.0, 11.0)
    woken = early.look([ONE], 11.0 + GAP_S + 0.01)
    assert woken.nodes["n1"].since == woken.at
    assert not may_end(woken, "n1", me="n2", fresh=True)


def test_an_observer_that_was_away_for_as_long_as_it_may_remembers_what_it_saw() -> None:
    early = watch(ONE, 10.0, 11.0)
    woken = early.look([ONE], early.at + GAP_S)
    assert woken.nodes["n1"].since == 10.0


def test_a_new_session_of_a_node_begins_a_new_wait_even_at_the_same_count() -> None:
    sightings = watch(ONE, 10.0, 11.9).look([Beat("n1", 8, 1)], 12.0)
    assert not may_end(sightings, "n1", me="n2", fresh=True)


def test_a_node_that_is_gone_from_the_table_is_forgotten() -> None:
    assert watch(ONE, 10.0, 11.0).look([], 11.2).nodes == {}


def test_a_shard_that_was_handed_over_is_answered_for_at_once() -> None:
    assert answers_from(Sightings(), 0, None, 50.0) == 50.0


def test_a_shard_whose_last_beat_was_never_seen_waits_the_whole_hold() -> None:
    assert answers_from(Sightings(), 0, Last(ONE, EPOCH), 50.0) == 50.0 + HOLD_S


def test_a_shard_of_a_node_that_was_ended_for_its_silence_is_answered_for_at_once() -> None:
    assert answers_from(watch(ONE, 10.0, 10.0 + TAKE_S), 0, Last(ONE, EPOCH), 12.1) == 12.1


def test_a_beat_newer_than_the_one_seen_waits_the_whole_hold() -> None:
    seen = watch(ONE, 10.0, 12.0)
    assert answers_from(seen, 0, Last(Beat("n1", 7, 2), EPOCH), 12.1) == 12.1 + HOLD_S


def test_a_shard_whose_owner_had_just_taken_it_waits_for_the_previous_owner_too() -> None:
    """`n1` is silent, and took the shard from a third node that may have beaten just before."""
    seen = Sightings()
    for now, epochs in ((10.0, {0: 3}), (10.5, {0: 3}), (11.4, {0: 4}), (11.5, {})):
        seen = seen.look([ONE], now, epochs)
    assert answers_from(seen, 0, Last(ONE, 4), 11.6) == 11.4 + HOLD_S
    assert answers_from(seen, 1, Last(ONE, 4), 11.6) == 11.6 + HOLD_S  # its owner was never seen
    assert answers_from(seen, 0, Last(Beat("n1", 8, 1), 4), 11.6) == 11.6 + HOLD_S


def test_a_shard_that_came_back_between_two_looks_waits_for_the_owner_in_between() -> None:
    """`n1` gave the shard to `n2`, which answered; its session ended, and `n1` took it again.

    Then `n1` ends, too. Its newest beat is older than the last one of `n2`, which may still answer.
    """
    seen = watch(ONE, 10.0, 11.0)
    again = Last(ONE, EPOCH + 2)
    assert answers_from(seen, 0, again, 11.2) == 11.2 + HOLD_S  # not seen at its owner again
    assert answers_from(seen.look([ONE], 11.2, {0: EPOCH + 2}), 0, again, 11.3) == 11.2 + HOLD_S


def test_a_shard_that_this_process_takes_again_still_waits_for_the_previous_owner() -> None:
    lasts = {0: Last(ONE, EPOCH), 1: Last(ONE, EPOCH), 2: None}
    until = {0: 51.2, 2: 60.0}
    assert starts_of(Sightings(), lasts, {7}, until, 50.0) == {0: 51.2, 1: 50.0, 2: 50.0}


steps = st.lists(
    st.tuples(
        st.sampled_from([0.05, 0.3, 0.7, 1.2, 3.0]),  # seconds until the node's next beat
        st.sampled_from([0.0, 0.01, 0.4]),  # seconds from its submission to its commit
    ),
    min_size=1,
    max_size=12,
)


@given(
    steps,
    st.lists(st.sampled_from([0.1, LOOKS_S, 0.6, 1.5]), min_size=1, max_size=40),
    st.floats(0.0, 0.2),
)
def test_nobody_answers_for_a_shard_while_its_previous_owner_may_answer_from_memory(
    beats: list[tuple[float, float]], looks: list[float], delay: float
) -> None:
    """A node beats irregularly; an observer looks irregularly and sees rows that are `delay` old.

    Whenever the observer takes over, it answers only when the node no longer may.
    """
    commits: list[tuple[float, float]] = []  # submitted, committed
    now = 0.0
    for pause, lasting in beats:
        commits.append((now, now + lasting))
        now += lasting + pause
    sightings, now = Sightings(), 0.0
    for pause in looks:
        now += pause
        done = [submitted for submitted, committed in commits if committed <= now - delay]
        row = Beat("n1", 1, len(done))
        sightings = sightings.look([row], now, {0: EPOCH})
        # The session may end by itself at this moment; then nothing more is committed.
        last = max(done, default=None)
        begin = answers_from(sightings, 0, Last(row, EPOCH), now)
        assert not is_fresh(begin, last)
        if may_end(sightings, "n1", me="n2", fresh=True):
            assert not is_fresh(now, last)


@given(
    st.lists(st.sampled_from([0.1, LOOKS_S, 0.6, 0.95, 4.0]), min_size=1, max_size=40),
    st.floats(HEARTBEAT_S, 0.99),
)
def test_a_node_that_makes_its_beats_is_never_ended_however_long_the_observer_pauses(
    looks: list[float], every: float
) -> None:
    sightings, now = Sightings(), 0.0
    for pause in looks:
        now += pause
        sightings = sightings.look([Beat("n1", 1, int(now / every))], now)
        assert not may_end(sightings, "n1", me="n2", fresh=True)
