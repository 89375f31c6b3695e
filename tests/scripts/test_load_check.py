"""The checks of the load scripts find rows, seats and amounts that are wrong."""

import sys
from typing import Any

import pytest

from tests.conventions.tree import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

from load.check import faults_of
from load.story import Books, Ending

STAKE, PRIZE = 100, 180


def _row(player: str, seat: str, **fields: Any) -> dict[str, Any]:
    money = {"payoutUsdCents": 0, "refundUsdCents": 0, "rakeUsdCents": 0}
    return {
        "matchId": "mat_1",
        "playerId": player,
        "seatId": seat,
        "outcome": "ended",
        "revision": 2,
        **money,
        **fields,
    }


def _books(ending: Ending, ann: dict[str, Any], bob: dict[str, Any]) -> Books:
    books = Books(STAKE, {"k1": "sea_1", "k2": "sea_2"}, {"mat_1"}, {"mat_1": ending})
    books.rows = {("mat_1", "ann"): ann, ("mat_1", "bob"): bob}
    return books


def _won(**fields: Any) -> Books:
    ann = _row("ann", "sea_1", result="won", payoutUsdCents=PRIZE, rakeUsdCents=20)
    bob = _row("bob", "sea_2", result="lost", **fields)
    return _books(Ending("ended", "ann"), ann, bob)


def test_a_feed_as_it_was_decided_has_no_fault() -> None:
    assert faults_of(_won(), PRIZE) == []
    back = {"refundUsdCents": STAKE}
    drawn = _books(
        Ending("ended", None),
        _row("ann", "sea_1", result="drawn", **back),
        _row("bob", "sea_2", result="drawn", **back),
    )
    assert faults_of(drawn, PRIZE) == []
    void = _books(
        Ending("no_contest", None),
        _row("ann", "sea_1", outcome="no_contest", **back),
        _row("bob", "sea_2", outcome="no_contest", **back),
    )
    assert faults_of(void, PRIZE) == []


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"result": "won"}, "bob was told"),
        ({"refundUsdCents": 1}, "201 cents left the match"),
        ({"seatId": "sea_9"}, "seats that nobody took"),
    ],
)
def test_a_wrong_row_is_a_fault(fields: dict[str, Any], fault: str) -> None:
    books = _won()
    books.rows["mat_1", "bob"] |= fields
    assert any(fault in found for found in faults_of(books, PRIZE))


def test_a_missing_row_and_an_unknown_match_are_faults() -> None:
    books = _won()
    del books.rows["mat_1", "bob"]
    assert faults_of(books, PRIZE) == ["mat_1 has 1 rows"]
    books.matches.clear()
    books.decided.clear()
    assert faults_of(books, PRIZE) == ["mat_1 is in the feed, and no seat was told of it"]


def test_an_undecided_match_must_still_run() -> None:
    books = _won()
    books.decided.clear()
    assert len(faults_of(books, PRIZE)) == 1
    for row in books.rows.values():
        row["outcome"] = "started"
    assert faults_of(books, PRIZE) == []
