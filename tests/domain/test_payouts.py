from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.matches import MatchDecision, close_alone, end
from pgs.domain.payouts import Payout, payouts, record_money
from pgs.domain.seats import confirm
from tests.domain.stakes import prizes_and_stakes
from tests.making import pending_seat, running_match


@given(prizes_and_stakes(), st.sampled_from(["p1", "p2"]))
def test_the_winner_gets_the_prize_and_the_losers_stake_pays_the_rake_first(
    drawn: tuple[int, tuple[int, int]], winner: str
) -> None:
    prize, stakes = drawn
    decision = MatchDecision("ended", winner, "completed")
    ended = end(running_match(stakes, prize), decision, 90)
    recorded = record_money(ended, 99)
    assert (recorded.match.money, recorded.match.due_at) == ("recorded", None)
    for seat in recorded.seats:
        assert seat.stake_status == "confirmed"
        assert seat.refund_usd_cents == 0
        assert seat.payout_usd_cents == (prize if seat.player_id == winner else 0)
        assert (seat.revision, seat.updated_at) == (3, 99)
        assert seat.rake_usd_cents is not None
        assert 0 <= seat.rake_usd_cents <= seat.stake_usd_cents
    won = next(seat for seat in recorded.seats if seat.player_id == winner)
    lost = next(seat for seat in recorded.seats if seat.player_id != winner)
    assert (won.rake_usd_cents or 0) + (lost.rake_usd_cents or 0) == sum(stakes) - prize
    assert won.rake_usd_cents == 0 or lost.rake_usd_cents == lost.stake_usd_cents
    assert payouts(ended) == (Payout("acme", "test", won.seat_id, winner, "prize", prize),)


@given(
    prizes_and_stakes(),
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
    ended = end(running_match(stakes, prize), decision, 90)
    recorded = record_money(ended, 99)
    for seat, stake in zip(recorded.seats, stakes, strict=True):
        money = (seat.payout_usd_cents, seat.refund_usd_cents, seat.rake_usd_cents)
        assert money == (0, stake, 0)
        assert (seat.stake_status, seat.revision) == ("refunded", 3)
    assert payouts(ended) == tuple(
        Payout("acme", "test", seat.seat_id, seat.player_id, "refund", stake)
        for seat, stake in zip(recorded.seats, stakes, strict=True)
    )


def test_a_seat_that_ended_alone_gets_its_stake_back() -> None:
    waiting = confirm(pending_seat(1, stake_usd_cents=123), 60)
    closed = close_alone(waiting, "mat_1", "no_opponent", 80)
    assert payouts(closed) == (Payout("acme", "test", "sea_001", "p1", "refund", 123),)
    (seat,) = record_money(closed, 99).seats
    assert (seat.refund_usd_cents, seat.stake_status, seat.revision) == (123, "refunded", 2)
