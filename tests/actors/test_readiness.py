"""Readiness and the rules of a seat never disagree."""

import re
from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from pgs.actors.seating.seats_state import SeatsState
from pgs.actors.seating.staking import find_price
from pgs.domain.accounts import Account, Licence, check_licence
from pgs.domain.environments import Environment
from pgs.domain.errors import Refusal
from pgs.domain.readiness import ADVICE, AccountFacts, gates, is_ready, own_price
from pgs.domain.tiers import Price, Tier, TierCatalogue, TierRevision
from tests.conventions.tree import ROOT
from tests.making import account

GAME = "checkers"
INSTALLED = (GAME,)
IDS = ("bronze", "silver", "gold")
PRICE = {"stake_below_floor", "stake_above_prize"}
NOTHING_ELSE = AccountFacts(webhook_on=False, factor_enrolled=False)

cents = st.integers(1, 6)
revisions = st.lists(st.tuples(cents, st.integers(0, 6)), min_size=1, max_size=3)


@st.composite
def tiers(draw: st.DrawFn) -> dict[str, Tier]:
    """Draw up to three tiers. Some are locked, and some pay more than two floors."""
    found = {}
    for tier_id in draw(st.sets(st.sampled_from(IDS))):
        rows = tuple(
            TierRevision(number, tier_id, floor, floor + more)
            for number, (floor, more) in enumerate(draw(revisions), 1)
        )
        locked = frozenset({GAME}) if draw(st.booleans()) else frozenset[str]()
        found[tier_id] = Tier("test", tier_id, rows, locked)
    return found


@st.composite
def accounts(draw: st.DrawFn, environment: Environment) -> Account:
    """Draw an account: switched on or off, licensed or not, with terms and prices or without."""
    prices = draw(st.dictionaries(st.sampled_from(IDS), st.integers(1, 12), max_size=3))
    licence = Licence(draw(st.booleans()), draw(st.sampled_from(["none", "granted", "requested"])))
    terms = draw(st.sampled_from([None, 1]))
    return account(
        active=draw(st.booleans()),
        agreed_terms_version=terms,
        licences={GAME: licence} if draw(st.booleans()) else {},
        prices={
            "test": {},
            "live": {},
            environment: {tier_id: Price(1, entry) for tier_id, entry in prices.items()},
        },
    )


def refused(
    caller: Account, environment: Environment, catalogue: TierCatalogue, tier_id: str
) -> Refusal | None:
    """Return the refusal of a seat at the account's own price, by the rules of the calls."""
    if not caller.active:
        return Refusal("partner_inactive")
    refusal = check_licence(caller, environment, GAME, INSTALLED)
    if refusal is not None:
        return refusal
    tier = catalogue.find(environment, tier_id)
    stake = 1 if tier is None else own_price(caller, environment, tier)
    seats: Any = SimpleNamespace(
        active_account=caller,
        environment=environment,
        parts=SimpleNamespace(
            catalogue=SimpleNamespace(published=lambda _: catalogue),
            system=SimpleNamespace(now=lambda: 0.0),
        ),
    )
    outcome = find_price(cast("SeatsState", seats), tier_id, GAME, stake)
    return outcome if isinstance(outcome, Refusal) else None


environments: st.SearchStrategy[Environment] = st.sampled_from(["test", "live"])


@given(st.data())
async def test_readiness_and_the_refusal_of_a_seat_never_disagree(data: st.DataObject) -> None:
    environment: Environment = data.draw(environments)
    caller = data.draw(accounts(environment))
    catalogue = TierCatalogue({"test": {}, "live": {}, environment: data.draw(tiers())}, 1)
    found = gates(caller, environment, GAME, INSTALLED, catalogue, NOTHING_ELSE)
    offered = [
        tier.tier_id for tier in catalogue.tiers[environment].values() if not tier.is_locked(GAME)
    ]
    tried = offered or list(catalogue.tiers[environment]) or ["bronze"]
    outcomes = {tier_id: refused(caller, environment, catalogue, tier_id) for tier_id in tried}
    told = {gate.refusal.reason for gate in found if gate.refusal}
    assert is_ready(found) == all(refusal is None for refusal in outcomes.values())
    reasons = [refusal.reason for refusal in outcomes.values() if refusal]
    # Two tiers may each have a reason about their price. The gate gives that of the first tier.
    of_price = [reason for reason in reasons if reason in PRICE]
    assert set(reasons) - set(of_price) <= told
    assert set(of_price[:1]) <= told


def test_the_gates_come_in_the_promised_order_and_each_has_advice() -> None:
    offers_nothing = TierCatalogue({"test": {}, "live": {}}, 1)
    everything = AccountFacts(webhook_on=True, factor_enrolled=True)
    acme = account(agreed_terms_version=1, origins={"test": ("https://a.example",), "live": ()})
    found = gates(acme, "test", GAME, INSTALLED, offers_nothing, everything)
    assert [gate.name for gate in found] == list(ADVICE)
    assert [gate.binding for gate in found] == [True] * 5 + [False] * 3
    assert [gate.name for gate in found if not gate.ok] == ["game_licensed", "tier_on_offer"]


def test_the_guide_says_which_gates_only_advise() -> None:
    acme = account(origins={"test": (), "live": ()})
    nothing = TierCatalogue({"test": {}, "live": {}}, 1)
    found = gates(acme, "test", GAME, INSTALLED, nothing, NOTHING_ELSE)
    text = (ROOT / "docs" / "api.md").read_text("utf-8")
    section = text.partition("\n## What a seat still needs\n")[2].partition("\n## ")[0]
    told = re.findall(r"^\| `(\w+)` \| (only advice)?", section, re.MULTILINE)
    assert told == [(gate.name, "" if gate.binding else "only advice") for gate in found]
