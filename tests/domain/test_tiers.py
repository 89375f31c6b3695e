import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, refuse
from pgs.domain.tiers import (
    TIER_USD_CENTS_MAX,
    Price,
    SeatPrice,
    Tier,
    TierCatalogue,
    TierRevision,
    check_numbers,
    check_price,
    effective_prices,
    price_seat,
)

cents = st.integers(min_value=1, max_value=10**9)


def tier(*numbers: tuple[int, int]) -> Tier:
    return Tier(
        "test",
        "bronze",
        tuple(
            TierRevision(number, "Bronze", *pair) for number, pair in enumerate(numbers, start=1)
        ),
    )


@st.composite
def tiers(draw: st.DrawFn) -> Tier:
    def numbers() -> tuple[int, int]:
        floor = draw(cents)
        return floor, draw(st.integers(floor, 2 * floor))

    return tier(*(numbers() for _ in range(draw(st.integers(1, 4)))))


@pytest.mark.parametrize(
    ("floor", "prize"),
    [(1, 1), (100, 180), (1, TIER_USD_CENTS_MAX), (TIER_USD_CENTS_MAX, TIER_USD_CENTS_MAX)],
)
def test_a_tier_may_have_a_prize_from_its_floor_to_the_bound(floor: int, prize: int) -> None:
    assert check_numbers(floor, prize) is None


@pytest.mark.parametrize(
    ("floor", "prize", "why"),
    [
        (0, 5, "at least 1"),
        (-3, 5, "at least 1"),
        (5, 4, "under the floor"),
        (5, TIER_USD_CENTS_MAX + 1, "at most"),
        (5, 2**63, "at most"),
    ],
)
def test_an_invalid_floor_or_prize_is_refused_with_the_reason(
    floor: int, prize: int, why: str
) -> None:
    refusal = check_numbers(floor, prize)
    assert isinstance(refusal, BadRequest)
    assert why in (refusal.message or "")


def test_the_current_revision_is_the_newest() -> None:
    assert tier((100, 180), (110, 190)).current == TierRevision(2, "Bronze", 110, 190)


@pytest.mark.parametrize(("prize", "locked"), [(199, False), (200, False), (201, True)])
def test_a_tier_whose_prize_exceeds_two_floors_is_locked(prize: int, locked: bool) -> None:
    assert tier((1, 1), (100, prize)).pays_in is locked
    assert tier((1, 1), (100, prize)).is_locked("chess") is locked


def test_an_operators_lock_applies_only_to_its_game() -> None:
    locked = msgspec.structs.replace(tier((100, 180)), locked_games=frozenset({"chess"}))
    assert (locked.is_locked("chess"), locked.is_locked("reversi")) == (True, False)


@pytest.mark.parametrize(
    ("numbers", "price", "counts"),
    [
        ([(100, 180)], Price(1, 100), True),
        ([(100, 180)], Price(1, 180), True),
        ([(100, 180)], Price(1, 99), False),
        ([(100, 180)], Price(1, 181), False),
        ([(100, 180), (160, 300)], Price(1, 150), False),
        ([(100, 180), (160, 300), (100, 180)], Price(1, 150), False),  # outside in revision 2
        ([(100, 180), (160, 300), (100, 180)], Price(3, 150), True),  # set again in revision 3
        ([(160, 300), (100, 180)], Price(2, 150), True),  # outside only before it was set
        ([(100, 180)], None, False),
    ],
)
def test_a_price_is_valid_while_every_later_revision_includes_it(
    numbers: list[tuple[int, int]], price: Price | None, counts: bool
) -> None:
    it = tier(*numbers)
    assert it.is_in_force(price) is counts
    assert it.entry_usd_cents(price) == (
        price.entry_usd_cents if counts and price else it.current.floor_usd_cents
    )


def test_effective_prices_are_those_within_floor_and_prize_of_known_tiers() -> None:
    prices = {"bronze": Price(1, 150), "silver": Price(1, 181), "gone": Price(1, 150)}
    known = {"bronze": tier((100, 180)), "silver": tier((100, 180))}
    assert effective_prices(prices, known) == {"bronze": 150}


def test_every_price_is_valid_while_the_tiers_cannot_be_read() -> None:
    prices = {"bronze": Price(1, 150), "gone": Price(1, 9)}
    assert effective_prices(prices, None) == {"bronze": 150, "gone": 9}


@given(tiers(), cents, st.none() | st.builds(Price, st.integers(1, 4), cents))
def test_a_stake_is_charged_within_floor_and_prize_or_refused_with_the_reason(
    it: Tier, sent: int, price: Price | None
) -> None:
    floor, prize = it.current.floor_usd_cents, it.current.prize_usd_cents
    answer = price_seat(it, price, sent)
    stake = answer.stake_usd_cents if isinstance(answer, SeatPrice) else answer
    if sent < floor:
        assert answer == refuse("stake_below_floor", floorUsdCents=floor)
    elif sent > prize:
        assert answer == refuse("stake_above_prize", ceilingUsdCents=prize)
    elif price is not None and it.is_in_force(price):
        assert stake == (
            sent
            if sent == price.entry_usd_cents
            else refuse("stake_does_not_match_price", expectedUsdCents=price.entry_usd_cents)
        )
    else:
        assert stake == floor
    if isinstance(answer, SeatPrice):
        assert floor <= answer.stake_usd_cents <= prize
        assert (answer.tier_revision, answer.prize_usd_cents) == (len(it.revisions), prize)


def test_an_invalid_price_is_refused_with_the_reason() -> None:
    it = tier((1, 1000), (100, 180))
    assert check_price(None, 100) == refuse("unknown_tier")
    assert check_price(it, 99) == refuse("below_floor", floorUsdCents=100)
    assert check_price(it, 181) == refuse("stake_above_prize", ceilingUsdCents=180)
    assert check_price(it, 100) is check_price(it, 180) is None


def test_a_tier_of_the_other_environment_is_unknown() -> None:
    catalogue = TierCatalogue({"test": {"bronze": tier((100, 180))}, "live": {}}, 1)
    assert catalogue.find("test", "bronze") is not None
    assert catalogue.find("live", "bronze") is None


@pytest.mark.parametrize(("here", "there"), [("test", "live"), ("live", "test")])
def test_the_refusal_of_a_tier_of_the_other_environment_says_so(
    here: Environment, there: Environment
) -> None:
    catalogue = TierCatalogue({here: {}, there: {"bronze": tier((100, 180))}}, 1)
    refusal = catalogue.unknown(here, "bronze")
    assert refusal.reason == "unknown_tier"
    assert f"a tier of {there}, and the key is one of {here}" in (refusal.message or "")


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (
            ("gold", "bronze"),
            "Did you mean bronze? `GET /partner/tiers?gameId=…` lists the tiers: ",
        ),
        (("gold", "silver"), "environment. `GET /partner/tiers?gameId=…` lists the tiers: gold, "),
        ((), "environment. `GET /partner/tiers?gameId=…` lists the tiers."),
    ],
    ids=["alike", "unlike", "none"],
)
def test_the_refusal_of_an_unknown_tier_names_the_tiers_there_are(
    known: tuple[str, ...], message: str
) -> None:
    tiers = dict.fromkeys(known, tier((100, 180)))
    refusal = TierCatalogue({"test": tiers, "live": {}}, 1).unknown("test", "bronce")
    assert refusal.reason == "unknown_tier"
    assert message in (refusal.message or "")
    assert (refusal.message or "").endswith("lists the tiers." if not known else f"{max(known)}.")
