import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain import ledger
from pgs.domain import seats as rules
from pgs.domain.ledger import Line
from pgs.domain.seats import MatchDecision
from tests.domain.test_seats import running, seat, terms

decisions = st.sampled_from(
    [
        MatchDecision("ended", "p1", "completed"),
        MatchDecision("ended", "p2", "completed"),
        MatchDecision("ended", None, "completed"),
        MatchDecision("no_contest", None, "both_absent"),
    ]
)


def test_a_charge_moves_the_stake_from_the_player_into_escrow() -> None:
    transfer = ledger.charge(seat(1, 123))
    assert (transfer.transfer_id, transfer.kind) == ("charge:sea_1", "charge")
    assert transfer.lines == (Line("player", "sea_1", -123), Line("escrow", "sea_1", 123))


@given(terms(), decisions)
def test_a_settlement_empties_the_escrow_of_its_match_to_the_cent(
    drawn: tuple[int, tuple[int, int]], decision: MatchDecision
) -> None:
    prize, stakes = drawn
    match, seats = rules.record_money(*rules.end(*running(stakes, prize), decision, 90), 99)
    transfer = ledger.settlement(match.match_id, seats)
    assert (transfer.transfer_id, transfer.kind) == ("settlement:mat_1", "settlement")
    assert sum(line.amount_usd_cents for line in transfer.lines) == 0
    assert all(line.amount_usd_cents for line in transfer.lines)
    for each in seats:
        of = {
            line.account: line.amount_usd_cents
            for line in transfer.lines
            if line.seat_id == each.seat_id
        }
        assert of.get("escrow") == -each.stake_usd_cents
        assert of.get("player", 0) == (each.payout_usd_cents or 0) + (each.refund_usd_cents or 0)
        assert of.get("rake", 0) == each.rake_usd_cents


def test_money_that_does_not_add_up_is_never_booked() -> None:
    match, seats = rules.record_money(
        *rules.end(*running(), MatchDecision("ended", "p1", "completed"), 90), 99
    )
    wrong = (seats[0], msgspec.structs.replace(seats[1], rake_usd_cents=0))
    with pytest.raises(ValueError, match="settlement:mat_1"):
        ledger.settlement(match.match_id, wrong)
