import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain import seats as rules
from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.seats import Match, MatchDecision, Payout, Seat

cents = st.integers(min_value=1, max_value=10**9)
times = st.integers(min_value=0, max_value=2**40)


def seat(
    number: int, stake: int = 100, prize: int = 180, environment: Environment = "test"
) -> Seat:
    return Seat(
        partner_id="acme",
        environment=environment,
        seat_id=f"sea_{number}",
        seq=number,
        idempotency_key=f"k{number}",
        player_id=f"p{number}",
        game_id="reversi",
        tier_id="bronze",
        tier_revision=3,
        sent_usd_cents=stake,
        stake_usd_cents=stake,
        prize_usd_cents=prize,
        partner_ref=None,
        status="pending",
        stake_status="pending",
        seated_at=50,
    )


def running(
    stakes: tuple[int, int] = (100, 100), prize: int = 180
) -> tuple[Match, tuple[Seat, ...]]:
    older, newer = (
        rules.confirm(seat(number, stake, prize), 60)
        for number, stake in enumerate(stakes, start=1)
    )
    return rules.start(older, newer, "mat_1", "{}", 70)


@pytest.mark.parametrize(("environment", "wait_s"), [("live", 300), ("test", 3600)])
def test_a_confirmed_stake_waits_from_its_confirmation_on(
    environment: Environment, wait_s: int
) -> None:
    was = seat(1, environment=environment)
    confirmed = rules.confirm(was, 1000)
    assert confirmed == msgspec.structs.replace(
        was,
        status="waiting",
        stake_status="confirmed",
        confirmed_at=1000,
        expires_at=1000 + wait_s,
        due_at=1000 + wait_s,
        updated_at=1000,
    )


def test_a_declined_stake_is_due_for_nothing_more() -> None:
    was = msgspec.structs.replace(seat(1), due_at=99)
    assert rules.decline(was, 60) == msgspec.structs.replace(
        was, status="declined", stake_status="declined", due_at=None, updated_at=60
    )


@pytest.mark.parametrize(("environment", "absence_s"), [("live", 60), ("test", 3600)])
def test_a_match_starts_under_the_terms_of_its_seats_and_waits_for_its_players(
    environment: Environment, absence_s: int
) -> None:
    older, newer = (rules.confirm(seat(number, environment=environment), 60) for number in (1, 2))
    match, (first, second) = rules.start(older, newer, "mat_1", '{"rule":"x"}', 70)
    assert match == Match(
        "acme",
        environment,
        "mat_1",
        "reversi",
        "bronze",
        3,
        180,
        "started",
        started_at=70,
        pairing='{"rule":"x"}',
        due_at=70 + absence_s,
    )
    for was, now, opponent in ((older, first, "p2"), (newer, second, "p1")):
        assert now == msgspec.structs.replace(
            was,
            status="matched",
            match_id="mat_1",
            opponent_player_id=opponent,
            started_at=70,
            due_at=None,
            revision=1,
            updated_at=70,
        )


def test_a_seat_alone_ends_in_a_match_that_never_started() -> None:
    was = rules.confirm(seat(1), 60)
    match, (closed,) = rules.close_alone(was, "mat_1", "no_opponent", 80)
    assert (match.status, match.end_reason, match.started_at, match.ended_at, match.money) == (
        "no_contest",
        "no_opponent",
        None,
        80,
        "due",
    )
    assert match.due_at == 85
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
def test_an_ended_match_tells_each_player_how_it_went_and_owes_money(
    decision: MatchDecision, results: tuple[str | None, ...]
) -> None:
    match, seats = running()
    ended, after = rules.end(match, seats, decision, 90)
    assert (ended.status, ended.end_reason, ended.ended_at) == (
        decision.outcome,
        decision.end_reason,
        90,
    )
    assert (ended.winner_player_id, ended.money, ended.due_at) == (
        decision.winner_player_id,
        "due",
        95,
    )
    for was, now, result in zip(seats, after, results, strict=True):
        assert now == msgspec.structs.replace(
            was,
            status=decision.outcome,
            result=result,
            end_reason=decision.end_reason,
            ended_at=90,
            revision=2,
            updated_at=90,
        )
        assert (now.payout_usd_cents, now.refund_usd_cents, now.rake_usd_cents) == (
            None,
            None,
            None,
        )


def test_the_same_decision_is_the_same_outcome_and_winner_whatever_brought_it_about() -> None:
    match, seats = running()
    won = rules.end(match, seats, MatchDecision("ended", "p1", "resigned"), 90)[0]
    drawn = rules.end(match, seats, MatchDecision("ended", None, "completed"), 90)[0]
    void = rules.end(match, seats, MatchDecision("no_contest", None, "both_absent"), 90)[0]
    decisions = [
        MatchDecision("ended", "p1", "x"),
        MatchDecision("ended", None, "x"),
        MatchDecision("no_contest", None, "x"),
        MatchDecision("ended", "p2", "x"),
    ]
    assert [
        [rules.same_decision(match, decision) for decision in decisions]
        for match in (won, drawn, void)
    ] == [
        [True, False, False, False],
        [False, True, False, False],
        [False, False, True, False],
    ]


@st.composite
def terms(draw: st.DrawFn) -> tuple[int, tuple[int, int]]:
    """A prize that is not over twice its floor, and two stakes between floor and prize."""
    floor = draw(cents)
    prize = draw(st.integers(floor, 2 * floor))
    stake = st.integers(floor, prize)
    return prize, (draw(stake), draw(stake))


@given(terms(), st.sampled_from(["p1", "p2"]))
def test_the_winner_gets_the_prize_and_the_losers_stake_pays_the_rake(
    drawn: tuple[int, tuple[int, int]], winner: str
) -> None:
    prize, stakes = drawn
    match, seats = rules.end(
        *running(stakes, prize), MatchDecision("ended", winner, "completed"), 90
    )
    recorded, after = rules.record_money(match, seats, 99)
    assert (recorded.money, recorded.due_at) == ("recorded", None)
    for now in after:
        assert now.stake_status == "confirmed"
        assert now.refund_usd_cents == 0
        assert now.payout_usd_cents == (prize if now.player_id == winner else 0)
        assert (now.revision, now.updated_at) == (3, 99)
        assert now.rake_usd_cents is not None
        assert 0 <= now.rake_usd_cents <= now.stake_usd_cents
    rakes = {now.player_id == winner: now.rake_usd_cents or 0 for now in after}
    assert rakes[True] + rakes[False] == sum(stakes) - prize
    loser_stake = next(now.stake_usd_cents for now in after if now.player_id != winner)
    assert rakes[True] == 0 or rakes[False] == loser_stake  # the loser's stake first
    assert rules.payouts(match, seats) == tuple(
        Payout(now.seat_id, now.player_id, "prize", prize)
        for now in after
        if now.player_id == winner
    )


@given(
    terms(),
    st.sampled_from(
        [
            MatchDecision("ended", None, "completed"),
            MatchDecision("no_contest", None, "both_absent"),
        ]
    ),
)
def test_without_a_winner_every_stake_goes_back(
    drawn: tuple[int, tuple[int, int]], decision: MatchDecision
) -> None:
    prize, stakes = drawn
    match, seats = rules.end(*running(stakes, prize), decision, 90)
    _, after = rules.record_money(match, seats, 99)
    for now, stake in zip(after, stakes, strict=True):
        assert (now.payout_usd_cents, now.refund_usd_cents, now.rake_usd_cents) == (0, stake, 0)
        assert (now.stake_status, now.revision) == ("refunded", 3)
    assert rules.payouts(match, seats) == tuple(
        Payout(now.seat_id, now.player_id, "refund", stake)
        for now, stake in zip(after, stakes, strict=True)
    )


def test_a_seat_that_ended_alone_gets_its_stake_back() -> None:
    match, seats = rules.close_alone(rules.confirm(seat(1, 123), 60), "mat_1", "no_opponent", 80)
    assert rules.payouts(match, seats) == (Payout("sea_1", "p1", "refund", 123),)
    _, (after,) = rules.record_money(match, seats, 99)
    assert (after.refund_usd_cents, after.stake_status, after.revision) == (123, "refunded", 2)


@given(times, st.integers(min_value=0, max_value=10**6))
def test_settlement_is_asked_again_soon_at_first_and_every_minute_at_last(
    since: int, age: int
) -> None:
    wait = rules.retry_at(since, since + age) - (since + age)
    assert 5 <= wait <= 60
    assert wait <= rules.retry_at(since, since + age + 1) - (since + age + 1)
    assert wait == 5 or age >= 20
    assert wait == 60 or age < 240


def test_every_environment_has_its_waits() -> None:
    assert set(rules.WAIT_S) == set(rules.ABSENCE_S) == set(ENVIRONMENTS)
