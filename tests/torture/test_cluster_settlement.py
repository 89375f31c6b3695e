"""The comparison of both books notices a charge or payout that is lost, doubled or different."""

import importlib
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"

pytestmark = pytest.mark.torture

SEATS = [
    ("won", "match", 100, "ended", 180, 0, "remote"),
    ("lost", "match", 100, "ended", 0, 0, "remote"),
    ("waits", None, 100, "waiting", None, None, "remote"),
    ("declined", None, 100, "declined", None, None, "remote"),
]


@pytest.fixture
def differences(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("cluster_torture.settlement").differences


@pytest.fixture
def charges() -> dict[str, tuple[int, str]]:
    made = {seat[0]: (100, "confirmed") for seat in SEATS}
    return made | {"declined": (100, "declined")}


@pytest.fixture
def payouts() -> dict[tuple[str, str], tuple[str, int, str]]:
    return {("match", "won"): ("prize", 180, "confirmed")}


def test_equal_books_have_no_differences(differences: Any, charges: Any, payouts: Any) -> None:
    assert differences(SEATS, charges, payouts) == []


def test_a_charge_or_payout_that_one_side_lacks_is_found(
    differences: Any, charges: Any, payouts: Any
) -> None:
    del charges["waits"]
    charges["unknown"] = (100, "confirmed")
    payouts["match", "lost"] = ("prize", 180, "confirmed")
    del payouts["match", "won"]
    assert differences(SEATS, charges, payouts) == [
        "won of match got ('prize', 180, 'confirmed'), and None there",
        "lost of match got None, and ('prize', 180, 'confirmed') there",
        "the charge of waits, waiting for 100, is None there",
        "only the settlement server has the charge of unknown",
    ]


def test_a_seat_that_was_settled_inside_the_service_is_found(
    differences: Any, charges: Any, payouts: Any
) -> None:
    inside = ("won", "match", 100, "ended", 180, 0, "embedded")
    found = differences([inside, *SEATS[1:]], charges, payouts)
    assert found[0] == "the seat won was settled inside the service"
