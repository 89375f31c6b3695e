"""Uses the account commands to create partners that are ready to play, for the demo and scripts."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from pgs.actors.core import Core
from pgs.actors.kernel.mail import Command
from pgs.actors.messages.account.keys import KeyMinted, MintKey
from pgs.actors.messages.account.lifecycle import CreatePartner, PartnerCreated
from pgs.actors.messages.account.settings import AddOrigin, AgreeTerms, ChangeLicence, SetPrices
from pgs.actors.messages.account.webhooks import SaveWebhook, WebhookSaved
from pgs.actors.messages.catalogue import (
    SetTier,
    TierSet,
)
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal, message_of
from pgs.domain.licences import Step
from pgs.domain.members import PLATFORM
from pgs.domain.secrets import HidesSecrets
from pgs.games.installed import GAMES

TO_LIVE: tuple[Step, ...] = ("test_on", "request_live", "grant")
"""The steps that license a game in both environments."""


class NotMade(Exception):
    """Something could not be made, usually because a command was refused; the message says why."""


class ReadyPartner(HidesSecrets, msgspec.Struct, frozen=True):
    """A partner that can play.

    The keys and webhook secrets cannot be read anywhere else: rows hold only the hashes of keys,
    and the secrets are sealed.
    """

    SECRETS = frozenset({"test_key", "live_key", "webhook_secrets"})

    partner_id: str
    test_key: str
    live_key: str
    invite_id: str
    webhook_secrets: Mapping[Environment, str] = {}


async def make_ready(
    core: Core,
    partner_id: str,
    name: str,
    admin_email: str,
    *,
    label: str = "first key",
    games: Iterable[str] = GAMES,
    origins: Mapping[Environment, Sequence[str]] | None = None,
    webhooks: Mapping[Environment, str] | None = None,
    prices: Mapping[Environment, Mapping[str, int]] | None = None,
) -> ReadyPartner:
    """Create a partner that can play in both environments, and return it.

    The partner has a key and `games` in each environment, and agrees to the terms on offer.

    `origins`, `webhooks` (a URL) and `prices` (US cents by tier id; the tiers must exist) are by
    environment. Raises `NotMade`.
    """

    async def ask(command: Command[object]) -> object:
        reply = await core.directory.partner(partner_id).account().ask(command)
        if isinstance(reply, Refusal | BadRequest):
            why = (
                reply.message
                if isinstance(reply, BadRequest)
                else f"{message_of(reply)} ({reply.reason})"
            )
            raise NotMade(f"{partner_id}, {type(command).__name__}: {why}")
        return reply

    async def mint(environment: Environment) -> str:
        minted = await ask(MintKey(PLATFORM, environment, label))
        return minted.text if isinstance(minted, KeyMinted) else ""

    created = await ask(CreatePartner(name, admin_email))
    test_key, live_key = await mint("test"), await mint("live")
    for game_id in games:
        for step in TO_LIVE:
            await ask(ChangeLicence(PLATFORM, game_id, step))
    await ask(AgreeTerms(PLATFORM, (await core.parts.catalogue.current()).offered_terms_version))
    for environment, registered in (origins or {}).items():
        for origin in registered:
            await ask(AddOrigin(PLATFORM, environment, origin))
    for environment, charged in (prices or {}).items():
        await ask(SetPrices(PLATFORM, environment, dict(charged)))
    secrets: dict[Environment, str] = {}
    for environment, url in (webhooks or {}).items():
        saved = await ask(SaveWebhook(PLATFORM, environment, url))
        if isinstance(saved, WebhookSaved) and saved.secret:
            secrets[environment] = saved.secret
    invite_id = created.invite_id if isinstance(created, PartnerCreated) else ""
    return ReadyPartner(partner_id, test_key, live_key, invite_id, secrets)


async def offer_tier(
    core: Core,
    environment: Environment,
    tier_id: str,
    floor_usd_cents: int,
    prize_usd_cents: int,
    name: str | None = None,
) -> None:
    """Create a tier, or give an existing one these numbers. Raises `NotMade`."""
    reply = await core.directory.catalogue().ask(
        SetTier(environment, tier_id, name, floor_usd_cents, prize_usd_cents)
    )
    if not isinstance(reply, TierSet):
        raise NotMade(f"tier {tier_id}: {reply.message}")
