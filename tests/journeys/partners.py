"""Creates partners and tiers for the tests, with the same commands as in production."""

from typing import Any, Final

import msgspec
import trio

from pgs.actors.core import Core
from pgs.actors.messages.account.keys import MintKey
from pgs.actors.messages.account.lifecycle import CreatePartner
from pgs.actors.messages.account.settings import AgreeTerms, ChangeLicence, SetPrices, SetRate
from pgs.actors.messages.catalogue import LockTier, SetTier, TierLocked, TierSet
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.licences import Step
from pgs.domain.members import PLATFORM
from tests.patience import PATIENCE_S

BOTH: Final = "tic-tac-toe"
"""The game that the partners of the tests may launch in both environments."""

TEST_ONLY: Final = "connect-four"
LIVE_ONLY: Final = "reversi"
UNKNOWN: Final = "tiddlywinks"

BRONZE: Final = "bronze"
"""A tier of both environments: floor 100, prize 180. No partner has set a price for it."""

SILVER: Final = "silver"
"""A tier of both environments: floor 100, prize 200. Every partner charges `SILVER_CENTS`."""

SILVER_CENTS: Final = 150
LOCKED: Final = "locked"
"""A tier that is locked for the game `BOTH`."""

GENEROUS: Final = "generous"
"""A tier whose prize is more than twice its floor."""

TEST_TIER: Final = "practice"
LIVE_TIER: Final = "serious"

_LICENCES: Final[tuple[tuple[str, tuple[Step, ...]], ...]] = (
    (BOTH, ("test_on", "request_live", "grant")),
    (TEST_ONLY, ("test_on",)),
    (LIVE_ONLY, ("test_on", "request_live", "grant", "test_off")),
)


class Partner(msgspec.Struct, frozen=True):
    """A partner with a key for each environment."""

    partner_id: str
    keys: dict[Environment, str]
    key_ids: dict[Environment, str]

    @property
    def test(self) -> str:
        """The test key."""
        return self.keys["test"]

    @property
    def live(self) -> str:
        """The live key."""
        return self.keys["live"]


async def make_tiers(core: Core) -> None:
    """Make every tier of the tests."""
    ref = core.directory.catalogue()
    rows: tuple[tuple[str, int, tuple[Environment, ...]], ...] = (
        (BRONZE, 180, ("test", "live")),
        (SILVER, 200, ("test", "live")),
        (LOCKED, 180, ("test", "live")),
        (GENEROUS, 201, ("test", "live")),
        (TEST_TIER, 180, ("test",)),
        (LIVE_TIER, 180, ("live",)),
    )
    for tier_id, prize, environments in rows:
        for environment in environments:
            tier = SetTier(environment, tier_id, tier_id.title(), 100, prize)
            assert await ref.ask(tier, PATIENCE_S) == TierSet(1)
            if tier_id == LOCKED:
                lock = LockTier(environment, tier_id, BOTH, locked=True)
                assert await ref.ask(lock, PATIENCE_S) == TierLocked(changed=True)


async def account(core: Core, partner_id: str, command: Any) -> Any:
    """Send a command to an account; return its reply, which must not be a refusal."""
    answer = await core.directory.partner(partner_id).account().ask(command, PATIENCE_S)
    assert not isinstance(answer, Refusal | BadRequest), answer
    return answer


async def make_partner(
    core: Core, partner_id: str, *, terms: bool = True, burst: int = 100_000
) -> Partner:
    """Create a partner that can launch: with keys, games, prices and, by default, agreed terms.

    Its bucket holds `burst` calls. The default is more than any test makes.
    """
    await account(
        core, partner_id, CreatePartner(f"The {partner_id} company", f"ops@{partner_id}.example")
    )
    keys: dict[Environment, str] = {}
    key_ids: dict[Environment, str] = {}
    for environment in ("test", "live"):
        minted = await account(core, partner_id, MintKey(PLATFORM, environment, "the tests'"))
        key_ids[environment], keys[environment] = minted.key.key_id, minted.text
        await account(core, partner_id, SetPrices(PLATFORM, environment, {SILVER: SILVER_CENTS}))
    for game_id, steps in _LICENCES:
        for step in steps:
            await account(core, partner_id, ChangeLicence(PLATFORM, game_id, step))
    if terms:
        await account(core, partner_id, AgreeTerms(PLATFORM, 1))
    await account(core, partner_id, SetRate(PLATFORM, burst, burst))
    return Partner(partner_id, keys, key_ids)


def seat_body(player_id: str, idempotency_key: str, **fields: object) -> dict[str, object]:
    """Return the body of a valid call for a seat, with some fields changed."""
    body: dict[str, object] = {
        "playerId": player_id,
        "gameId": BOTH,
        "tierId": BRONZE,
        "stakeUsdCents": 100,
        "idempotencyKey": idempotency_key,
    }
    return body | fields


def drain(core: Core, partner_id: str) -> None:
    """Empty a partner's bucket, which then stays empty for a minute."""
    known = core.parts.registry.account(partner_id)
    assert known is not None
    later = (
        trio.current_time() + 60
    )  # a bucket's time never goes back, so it regains nothing until then
    while core.directory.partner(partner_id).admission.admit(known, later).refused_by is None:
        pass
