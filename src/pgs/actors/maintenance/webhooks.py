"""Chores of webhook endpoints: they delete old tries and switch failing endpoints off."""

from functools import partial

from pgs.actors.messages.courier import EndpointChanged
from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts
from pgs.domain.environments import ENVIRONMENTS
from pgs.domain.nudges import FAILURES_TO_DISABLE, KEEP_ATTEMPTS_S
from pgs.storage import attempts
from pgs.storage.bulk import read_in_bulk
from pgs.storage.transactions import Tx
from pgs.storage.webhooks import failing_endpoints

PAGE = 500
"""Rows of the attempt log that one transaction deletes, at most. The writer needs a few
milliseconds for them. One run wakes the couriers of at most as many failing endpoints."""


async def prune_attempts(parts: Parts, directory: PartnerDirectory) -> None:
    """Delete tries that are `KEEP_ATTEMPTS_S` old. Raises what the store raises.

    A service without other nodes deletes the oldest tries first. One of several nodes goes
    through its partners one by one. Each transaction deletes rows of one partner.
    """
    until = parts.clock.now() - KEEP_ATTEMPTS_S
    if not directory.is_alone:
        await _prune_own(parts, directory, until)
        return
    while oldest := await read_in_bulk(
        parts.database, lambda reader: attempts.oldest_attempts(reader, until, PAGE)
    ):
        for partner_id, environment, seq in oldest:
            stmt = attempts.delete_old_attempts(partner_id, environment, seq, until)
            await parts.database.writer.submit(Tx(partner_id, (stmt,)))


async def _prune_own(parts: Parts, directory: PartnerDirectory, until: int) -> None:
    """Delete old tries of this node's partners, one partner after the other.

    A page of the oldest tries of all partners would not help: it may have no try of this node's
    partners.
    """
    for account in parts.registry.accounts():
        partner_id = account.partner_id
        for environment in ENVIRONMENTS:
            while directory.owns(partner_id) and (
                seq := await read_in_bulk(
                    parts.database,
                    partial(
                        attempts.last_old_attempt,
                        partner_id=partner_id,
                        environment=environment,
                        until=until,
                        page_size=PAGE,
                    ),
                )
            ):
                stmt = attempts.delete_old_attempts(partner_id, environment, seq, until)
                await parts.database.writer.submit(Tx(partner_id, (stmt,)))


async def wake_failing_couriers(parts: Parts, directory: PartnerDirectory) -> None:
    """Wake the couriers of enabled endpoints that have failed too often. Raises `StoreOutage`.

    A crash between the last failure and the switching off leaves such an endpoint.
    """
    for partner_id, environment in await read_in_bulk(
        parts.database, lambda reader: failing_endpoints(reader, FAILURES_TO_DISABLE, PAGE)
    ):
        partner = directory.owned(partner_id)
        if partner is not None:
            partner.courier(environment).tell(EndpointChanged())
