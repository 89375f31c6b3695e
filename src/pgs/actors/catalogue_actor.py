"""The actor that changes the platform's tiers, their locks and the rake terms on offer."""

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from pgs.actors.kernel.dispatch import DispatchingActor, Handler, Stale
from pgs.actors.kernel.mail import Envelope, Message
from pgs.actors.messages.catalogue import (
    LockTier,
    PublishTerms,
    SetTier,
    TermsPublished,
    TierLocked,
    TierSet,
)
from pgs.actors.parts import Parts
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.members import PLATFORM
from pgs.domain.names import LABEL_MAX, fault_of_name, is_tier_id
from pgs.domain.tiers import TierRevision, check_numbers
from pgs.games.installed import GAMES
from pgs.storage import tiers as rows
from pgs.storage.terms import insert_terms
from pgs.storage.transactions import Outcome, Stmt, Tx

TERMS_MAX = 100_000
"""Characters of the rake terms: enough for a long contract."""


class CatalogueActor(DispatchingActor):
    """Changes tiers, locks and terms, one command at a time."""

    def __init__(self, parts: Parts) -> None:
        self._database = parts.database
        self._clock = parts.clock
        self._catalogue = parts.catalogue

    async def load(self) -> None:
        """Read the catalogue again, so that decisions use the newest one."""
        await self._catalogue.refresh()

    async def _set_tier(self, command: SetTier, envelope: Envelope) -> TierSet | BadRequest:
        if not is_tier_id(command.tier_id):
            return BadRequest("a tier id is 1 to 32 of a-z 0-9 -")
        wrong = check_numbers(command.floor_usd_cents, command.prize_usd_cents)
        if wrong is not None:
            return wrong
        tier = (await self._catalogue.current()).find(command.environment, command.tier_id)
        was = tier.current if tier else None
        name = (command.name or (was.name if was else command.tier_id)).strip()
        if not name or len(name) > LABEL_MAX:
            return BadRequest(f"the name must be 1 to {LABEL_MAX} characters")
        fault = fault_of_name(name)
        if fault is not None:
            return BadRequest(f"the name {fault}")
        wanted = TierRevision(
            was.revision if was else 0, name, command.floor_usd_cents, command.prize_usd_cents
        )
        if wanted == was:
            return TierSet(was.revision)
        new = msgspec.structs.replace(wanted, revision=wanted.revision + 1)
        await self._write(
            rows.insert_revision(command.environment, command.tier_id, new, self._clock.now())
        )
        return TierSet(new.revision)

    async def _lock_tier(self, command: LockTier, envelope: Envelope) -> TierLocked | Refusal:
        tier = (await self._catalogue.current()).find(command.environment, command.tier_id)
        if tier is None:
            return refuse("unknown_tier")
        if command.game_id not in GAMES:
            return refuse("unknown_game")
        if (command.game_id in tier.locked_games) == command.locked:
            return TierLocked(changed=False)
        await self._write(
            rows.set_lock(
                command.environment, command.tier_id, command.game_id, locked=command.locked
            )
        )
        return TierLocked(changed=True)

    async def _publish_terms(
        self, command: PublishTerms, envelope: Envelope
    ) -> TermsPublished | BadRequest:
        if not command.text.strip() or len(command.text) > TERMS_MAX:
            return BadRequest(f"terms must be 1 to {TERMS_MAX} characters")
        version = (await self._catalogue.current()).offered_terms_version + 1
        await self._write(insert_terms(version, command.text, self._clock.now()))
        return TermsPublished(version)

    async def _write(self, *stmts: Stmt) -> None:
        """Commit statements and publish the changed catalogue. Raises `Stale`."""
        if await self._database.writer.submit(Tx(PLATFORM, stmts)) is Outcome.CONFLICT:
            raise Stale
        self._catalogue.publish(await rows.read_catalogue(self._database.reader))

    HANDLERS: ClassVar[Mapping[type[Message], Handler]] = {
        SetTier: _set_tier,
        LockTier: _lock_tier,
        PublishTerms: _publish_terms,
    }
