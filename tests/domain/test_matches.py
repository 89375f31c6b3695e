import msgspec
import pytest

from pgs.domain import matches as rules
from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.matches import Match, MatchDecision
from pgs.domain.seats import confirm
from tests.making import pending_seat, running_match


@pytest.mark.parametrize(("environment", "absence_s"), [("live", 60), ("test", 3600)])
def test_a_match_starts_with_the_tier_and_prize_of_its_seats_and_waits_for_its_players(
    environment: Environment, absence_s: int
) -> None:
    older, newer = (confirm(pending_seat(number, environment=environment), 60) for number in (1, 2))
    started = rules.start(older, newer, "mat_1", '{"rule":"x"}', 70)
    assert started.match == Match(
        "acme",
        environment,
        "mat_1",
        "reversi",
        "bronze",
        1,
        180,
        "started",
        started_at=70,
        pairing='{"rule":"x"}',
        due_at=70 + absence_s,
    )
    first, second = started.seats
    for side, was, now, opponent in ((0, older, first, "p2"), (1, newer, second, "p1")):
        assert now == msgspec.structs.replace(
            was,
            status="matched",
            match_id="mat_1",
            opponent_player_id=opponent,
            side=side,
            started_at=70,
            due_at=None,
            revision=1,
            updated_at=70,
        )


def test_a_seat_without_an_opponent_ends_in_a_match_that_never_started() -> None:
    was = confirm(pending_seat(1), 60)
    record = rules.close_alone(was, "mat_1", "no_opponent", 80)
    match, (closed,) = record.match, record.seats
    assert (match.status, match.end_reason, match.money) == ("no_contest", "no_opponent", "due")
    assert (match.started_at, match.ended_at, match.due_at) == (None, 80, 85)
    assert closed == msgspec.structs.replace(
        was,
        status="no_contest",
        match_id="mat_1",
        end_reason="no_opponent",
        ended_at=80,
        due_at=None,
        revision=1,
        updated_at=80,
    )


@pytest.mark.parametrize(
    ("decision", "results"),
    [
        (MatchDecision("ended", "p1", "resigned"), ("won", "lost")),
        (MatchDecision("ended", "p2", "completed"), ("lost", "won")),
        (MatchDecision("ended", None, "completed"), ("drawn", "drawn")),
        (MatchDecision("no_contest", None, "both_absent"), (None, None)),
    ],
)
def test_an_ended_match_has_a_result_for_each_player_and_owes_money(
    decision: MatchDecision, results: tuple[str | None, ...]
) -> None:
    running = running_match()
    ended = rules.end(running, decision, 90)
    match = ended.match
    assert (match.status, match.end_reason) == (decision.outcome, decision.end_reason)
    assert match.winner_player_id == decision.winner_player_id
    assert (match.ended_at, match.money, match.due_at) == (90, "due", 95)
    for was, now, result in zip(running.seats, ended.seats, results, strict=True):
        assert now == msgspec.structs.replace(
            was,
            status=decision.outcome,
            result=result,
            end_reason=decision.end_reason,
            ended_at=90,
            revision=2,
            updated_at=90,
        )
        money = (now.payout_usd_cents, now.refund_usd_cents, now.rake_usd_cents)
        assert money == (None, None, None)


def test_each_seat_gets_the_score_at_its_place() -> None:
    decision = MatchDecision("ended", "p1", "completed", scores=(40, 24))
    assert [seat.score for seat in rules.end(running_match(), decision, 90).seats] == [40, 24]


def test_has_player_is_true_for_the_players_of_the_seats_only() -> None:
    running = running_match()
    assert [running.has_player(name) for name in ("p1", "p2", "p3")] == [True, True, False]


def test_two_decisions_are_the_same_if_outcome_and_winner_are_equal() -> None:
    running = running_match()
    won = rules.end(running, MatchDecision("ended", "p1", "resigned"), 90)
    drawn = rules.end(running, MatchDecision("ended", None, "completed"), 90)
    void = rules.end(running, MatchDecision("no_contest", None, "both_absent"), 90)
    decisions = [
        MatchDecision("ended", "p1", "completed"),
        MatchDecision("ended", None, "completed"),
        MatchDecision("no_contest", None, "completed"),
        MatchDecision("ended", "p2", "completed"),
    ]
    assert [
        [rules.same_decision(record.match, decision) for decision in decisions]
        for record in (won, drawn, void)
    ] == [
        [True, False, False, False],
        [False, True, False, False],
        [False, False, True, False],
    ]


def test_every_environment_has_its_limit_for_absent_players() -> None:
    assert set(rules.ABSENCE_S) == set(ENVIRONMENTS)
