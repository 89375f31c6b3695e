"""The API keys of a test's account."""

from pgs.actors.messages.account.keys import KeyMinted, MintKey
from pgs.domain.environments import Environment
from tests.actors.ready_core import ReadyCore


async def mint(
    s: ReadyCore, partner: str = "acme", environment: Environment = "test"
) -> tuple[str, str]:
    """Mint a key; return its id and its text."""
    minted = await s.partner(partner).account().ask(MintKey("ops", environment, "build"))
    assert isinstance(minted, KeyMinted)
    return minted.key.key_id, minted.text
