"""Short chores: they tend and close actors, refresh the registers, and act on what these say."""

from collections.abc import Iterable

import structlog
import trio

from pgs.actors.messages.account.command import AccountChangedInRows
from pgs.actors.partners import PartnerDirectory
from pgs.actors.parts import Parts
from pgs.actors.seating.switching_off import close_what_is_off
from pgs.domain.environments import ENVIRONMENTS
from pgs.domain.play import UNREADABLE

log = structlog.get_logger("pgs.registry")


async def tend_actors(parts: Parts, _: PartnerDirectory) -> None:
    """Refuse the asks whose deadline passed in a queue; close the actors that have been idle."""
    parts.system.tend()


async def close_idle_connections(parts: Parts, _: PartnerDirectory) -> None:
    """Close connections to endpoints that no nudge has used for a while.

    If a try waits for a new connection to an endpoint, close all idle ones to that endpoint.
    """
    parts.deliveries.outbound.close_idle()


async def close_idle_partners(_: Parts, directory: PartnerDirectory) -> None:
    """Close the partners that nobody uses, to free their memory."""
    directory.close_idle()


async def refresh_registry(parts: Parts, directory: PartnerDirectory) -> None:
    """Read every account again. Raises `StoreOutage`."""
    _tell_written(parts, directory, await parts.registry.refresh())


async def follow_others(parts: Parts, directory: PartnerDirectory) -> None:
    """Read other nodes' changes to accounts, tiers and terms. Raises `StoreOutage`."""
    _tell_written(parts, directory, await parts.registry.follow())
    # Tiers and terms are a few rows: reading them costs no more than asking whether they changed.
    await parts.catalogue.refresh()


def _tell_written(parts: Parts, directory: PartnerDirectory, written: Iterable[str]) -> None:
    """Tell the account actors of these partners to load their accounts again.

    An actor does not know of the change: something else wrote the rows, or the actor's own commit
    raised an error although it was carried out. If an account is off now, its open play is closed.
    """
    for partner_id in written:
        partner = directory.owned(partner_id)
        if partner is None:  # the node that owns the partner wrote them
            continue
        if parts.registry.found_own_commit(partner_id):
            log.info("account_commit_found", partner_id=partner_id)
        elif directory.is_alone:
            log.warning("account_written_past_its_actor", partner_id=partner_id)
        else:  # for example, the partner's previous owner wrote them
            log.info("account_changed_by_another_node", partner_id=partner_id)
        partner.account().tell(AccountChangedInRows())
        account = parts.registry.account(partner_id)
        if account is not None and not account.active:
            for environment in ENVIRONMENTS:
                partner.spawn(close_what_is_off, partner, environment)


async def refresh_catalogue(parts: Parts, _: PartnerDirectory) -> None:
    """Read tiers and rake terms again. Raises `StoreOutage`."""
    await parts.catalogue.refresh()


async def close_sockets_when_unreadable(parts: Parts, _: PartnerDirectory) -> None:
    """Close every game socket once the registry has been unreadable for too long."""
    if parts.registry.is_closed(trio.current_time()):
        parts.presence.close_all(UNREADABLE)


async def write_key_uses(parts: Parts, directory: PartnerDirectory) -> None:
    """Write when keys were last used. Raises what the store raises."""
    await parts.key_uses.write(belongs=directory.owns)
