import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain import ledger
from pgs.domain.ledger import Line
from pgs.domain.matches import MatchDecision, end
from pgs.domain.payouts import record_money
from tests.domain.stakes import prizes_and_stakes
from tests.making import pending_seat, running_match

decisions = st.sampled_from(
    [
        MatchDecision("ended", "p1", "completed"),
        MatchDecision("ended", "p2", "completed"),
        MatchDecision("ended", None, "completed"),
        MatchDecision("no_contest", None, "both_absent"),
    ]
)


def test_a_charge_moves_the_stake_from_the_player_into_escrow() -> None:
    transfer = ledger.charge(pending_seat(1, stake_usd_cents=123))
    assert (transfer.transfer_id, transfer.kind) == ("charge:sea_001", "charge")
    assert transfer.lines == (Line("player", "sea_001", -123), Line("escrow", "sea_001", 123))


@given(prizes_and_stakes(), decisions)
def test_a_settlement_empties_the_escrow_of_its_match_to_the_cent(
    drawn: tuple[int, tuple[int, int]], decision: MatchDecision
) -> None:
    prize, stakes = drawn
    seats = record_money(end(running_match(stakes, prize), decision, 90), 99).seats
    transfer = ledger.settlement("mat_1", seats)
    assert (transfer.transfer_id, transfer.kind) == ("settlement:mat_1", "settlement")
    assert sum(line.amount_usd_cents for line in transfer.lines) == 0
    assert all(line.amount_usd_cents for line in transfer.lines)
    for seat in seats:
        booked = {
            line.account: line.amount_usd_cents
            for line in transfer.lines
            if line.seat_id == seat.seat_id
        }
        assert booked.get("escrow") == -seat.stake_usd_cents
        paid = (seat.payout_usd_cents or 0) + (seat.refund_usd_cents or 0)
        assert booked.get("player", 0) == paid
        assert booked.get("rake", 0) == seat.rake_usd_cents


def test_money_that_does_not_add_up_is_never_booked() -> None:
    ended = end(running_match(), MatchDecision("ended", "p1", "completed"), 90)
    won, lost = record_money(ended, 99).seats
    wrong = (won, msgspec.structs.replace(lost, rake_usd_cents=0))
    with pytest.raises(ValueError, match="settlement:mat_1"):
        ledger.settlement("mat_1", wrong)
