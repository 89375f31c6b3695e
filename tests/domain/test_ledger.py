"""The transfers of a stake from its charge to its settlement, and the chain of the rows."""

import hashlib
from collections import Counter
from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.ledger import (
    ESCROW,
    FIRST_HASH,
    RAKE,
    LedgerRow,
    Transfer,
    charge,
    hash_of,
    player,
    row_after,
    settle,
)
from pgs.domain.matches import MatchDecision, MatchWithSeats, close_alone, end
from pgs.domain.payouts import record_money
from pgs.domain.seats import confirm
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


def _ended(
    decision: MatchDecision, stakes: tuple[int, int] = (100, 100), prize: int = 180
) -> MatchWithSeats:
    return record_money(end(running_match(stakes, prize), decision, 90), 99)


def _won(by: str, stakes: tuple[int, int] = (100, 100), prize: int = 180) -> MatchWithSeats:
    return _ended(MatchDecision("ended", by, "completed"), stakes, prize)


def _balances(transfers: Iterable[Transfer]) -> Counter[str]:
    """Return what each account has after transfers; debits are negative."""
    balances = Counter[str]()
    for each in transfers:
        balances[each.debit] -= each.amount_usd_cents
        balances[each.credit] += each.amount_usd_cents
    return balances


def test_a_charge_moves_the_stake_from_the_player_into_escrow() -> None:
    assert charge(pending_seat(1, stake_usd_cents=123)) == Transfer(
        "charge", "player:p1", "escrow", "sea_001", None, 123
    )


def test_the_account_of_a_player_cannot_be_an_account_of_the_platform() -> None:
    assert {player(ESCROW), player(RAKE)}.isdisjoint({ESCROW, RAKE})


def test_of_equal_stakes_the_loser_pays_the_rake_and_the_rest_of_both_is_the_prize() -> None:
    assert list(settle(_won("p2"))) == [
        Transfer("prize", ESCROW, "player:p2", "sea_001", "mat_1", 80),
        Transfer("rake", ESCROW, RAKE, "sea_001", "mat_1", 20),
        Transfer("prize", ESCROW, "player:p2", "sea_002", "mat_1", 100),
    ]


def test_a_rake_above_the_losers_stake_is_taken_from_the_winners_stake_too() -> None:
    assert list(settle(_won("p1", (170, 20), 100))) == [
        Transfer("prize", ESCROW, "player:p1", "sea_001", "mat_1", 100),
        Transfer("rake", ESCROW, RAKE, "sea_001", "mat_1", 70),
        # Nothing is left of the loser's stake for a prize.
        Transfer("rake", ESCROW, RAKE, "sea_002", "mat_1", 20),
    ]


@pytest.mark.parametrize("winner", ["p1", "p2"])
def test_of_unequal_stakes_the_winner_gets_the_prize_and_the_rake_is_the_rest(winner: str) -> None:
    transfers = list(settle(_won(winner, (150, 110), 200)))
    assert _balances(transfers) == {ESCROW: -260, player(winner): 200, RAKE: 60}
    loser = "sea_002" if winner == "p1" else "sea_001"
    assert {each.seat_id for each in transfers if each.kind == "rake"} == {loser}


def test_a_prize_that_equals_both_stakes_leaves_no_rake() -> None:
    assert list(settle(_won("p1", (100, 100), 200))) == [
        Transfer("prize", ESCROW, "player:p1", "sea_001", "mat_1", 100),
        Transfer("prize", ESCROW, "player:p1", "sea_002", "mat_1", 100),
    ]


@pytest.mark.parametrize(
    "decision",
    [
        MatchDecision("ended", None, "completed"),
        MatchDecision("no_contest", None, "both_absent"),
    ],
)
def test_a_draw_and_no_contest_refund_each_player_the_own_stake(decision: MatchDecision) -> None:
    assert list(settle(_ended(decision, (150, 110)))) == [
        Transfer("refund", ESCROW, "player:p1", "sea_001", "mat_1", 150),
        Transfer("refund", ESCROW, "player:p2", "sea_002", "mat_1", 110),
    ]


def test_a_seat_without_an_opponent_gets_its_stake_back() -> None:
    waiting = confirm(pending_seat(1, stake_usd_cents=123), 60)
    record = record_money(close_alone(waiting, "mat_1", "no_opponent", 80), 99)
    assert list(settle(record)) == [
        Transfer("refund", ESCROW, "player:p1", "sea_001", "mat_1", 123)
    ]


@given(prizes_and_stakes(), decisions)
def test_a_settlement_empties_the_escrow_of_each_seat_to_the_cent(
    drawn: tuple[int, tuple[int, int]], decision: MatchDecision
) -> None:
    prize, stakes = drawn
    record = _ended(decision, stakes, prize)
    transfers = [*map(charge, record.seats), *settle(record)]
    assert all(each.amount_usd_cents > 0 for each in transfers)
    assert len({(each.seat_id, each.kind) for each in transfers}) == len(transfers)
    balances = _balances(transfers)
    assert balances[ESCROW] == 0
    assert balances[RAKE] == sum(seat.rake_usd_cents or 0 for seat in record.seats)
    for seat in record.seats:
        own = [each for each in transfers if each.seat_id == seat.seat_id]
        assert _balances(own)[ESCROW] == 0
        paid = (seat.payout_usd_cents or 0) + (seat.refund_usd_cents or 0)
        assert balances[player(seat.player_id)] == paid - seat.stake_usd_cents
        amounts = {each.kind: each.amount_usd_cents for each in own}
        assert amounts["charge"] == seat.stake_usd_cents
        assert amounts.get("refund", 0) == seat.refund_usd_cents
        assert amounts.get("rake", 0) == seat.rake_usd_cents
        if decision.winner_player_id is None:
            assert "prize" not in amounts
    assert {each.match_id for each in transfers if each.kind != "charge"} == {"mat_1"}


# --- the chain

ROW = row_after(
    6,
    "before",
    Transfer("prize", ESCROW, "player:p1", "sea_001", "mat_1", 180),
    partner_id="acme",
    environment="test",
    at=99,
)
ALTERED: dict[str, object] = {
    "partner_id": "bravo",
    "environment": "live",
    "at": 100,
    "kind": "refund",
    "debit": "rake",
    "credit": "player:p2",
    "seat_id": "sea_002",
    "match_id": None,
    "amount_usd_cents": 181,
}


def test_a_transfer_becomes_the_row_after_the_last_one() -> None:
    assert msgspec.structs.replace(ROW, hash="") == LedgerRow(
        "acme", "test", 7, 99, "prize", ESCROW, "player:p1", "sea_001", "mat_1", 180
    )
    assert ROW.hash == hash_of(ROW, "before")


def test_a_hash_is_the_sha_256_of_the_hash_before_and_the_rows_fields_as_a_json_array() -> None:
    text = b'["before","acme","test",99,"prize","escrow","player:p1","sea_001","mat_1",180]'
    assert ROW.hash == hashlib.sha256(text).hexdigest()


def test_every_field_but_the_number_and_the_hash_itself_is_covered() -> None:
    assert set(ALTERED) == set(LedgerRow.__struct_fields__) - {"seq", "hash"}
    moved = msgspec.structs.replace(ROW, seq=8, hash="other")
    assert hash_of(moved, "before") == ROW.hash


@pytest.mark.parametrize("name", ALTERED)
def test_an_altered_field_changes_the_hash(name: str) -> None:
    altered = msgspec.structs.replace(ROW, **{name: ALTERED[name]})
    assert hash_of(altered, "before") != ROW.hash


def test_another_row_before_changes_the_hash() -> None:
    assert hash_of(ROW, FIRST_HASH) != hash_of(ROW, "before")


texts = st.text(max_size=6)
rows = st.builds(
    LedgerRow,
    partner_id=texts,
    environment=st.sampled_from(["test", "live"]),
    seq=st.just(1),
    at=st.integers(0, 20),
    kind=st.sampled_from(["charge", "prize", "refund", "rake"]),
    debit=texts,
    credit=texts,
    seat_id=texts,
    match_id=st.none() | texts,
    amount_usd_cents=st.integers(1, 20),
)


@given(rows, texts, rows, texts)
def test_two_rows_that_differ_anywhere_have_different_hashes(
    one: LedgerRow, before_one: str, other: LedgerRow, before_other: str
) -> None:
    same = (one, before_one) == (other, before_other)
    assert (hash_of(one, before_one) == hash_of(other, before_other)) == same


def test_text_that_moves_from_one_field_to_the_next_changes_the_hash() -> None:
    one = msgspec.structs.replace(ROW, debit='a","b', credit="c")
    other = msgspec.structs.replace(ROW, debit="a", credit='b","c')
    assert hash_of(one, "before") != hash_of(other, "before")


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=8), st.data())
def test_an_altered_row_changes_the_hashes_of_all_rows_after_it(
    amounts: list[int], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(amounts) - 1))

    def chain(stakes: list[int]) -> list[LedgerRow]:
        chained: list[LedgerRow] = []
        for number, stake in enumerate(stakes):
            transfer = charge(pending_seat(number, stake_usd_cents=stake))
            before = chained[-1].hash if chained else FIRST_HASH
            row = row_after(
                number, before, transfer, partner_id="acme", environment="test", at=number
            )
            chained.append(row)
        return chained

    written = chain(amounts)
    amounts[place] += 1
    altered = chain(amounts)
    assert [row.seq for row in written] == list(range(1, len(amounts) + 1))
    assert [one.hash == other.hash for one, other in zip(written, altered, strict=True)] == [
        number < place for number in range(len(amounts))
    ]
