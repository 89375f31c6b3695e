"""The rules about a whole account: opening it, switching it on or off, the emergency stop."""

from msgspec.structs import replace

from pgs.actors.account.decisions import AccountDecision, Context, Write, as_committed
from pgs.actors.messages.account.lifecycle import (
    CreatePartner,
    EmergencyStop,
    PartnerCreated,
    StopMarked,
    SwitchAccount,
)
from pgs.domain import ids, invites
from pgs.domain.accounts import Account
from pgs.domain.environments import ENVIRONMENTS
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.members import PLATFORM
from pgs.domain.names import LABEL_MAX, fault_of_name, is_partner_id
from pgs.domain.versions import ServedVersions
from pgs.storage.emergency_stops import put_stop
from pgs.storage.invites import insert_invite


def account_name(text: str) -> str | BadRequest:
    """Return an account's name without spaces around it, or why it cannot be the name."""
    name = text.strip()
    if not name or len(name) > LABEL_MAX:
        return BadRequest(f"name must be 1 to {LABEL_MAX} characters")
    fault = fault_of_name(name)
    return name if fault is None else BadRequest(f"name {fault}")


def create(partner_id: str, command: CreatePartner, context: Context) -> AccountDecision:
    """Decide to open an account, with an invite for its first admin."""
    if not is_partner_id(partner_id):
        return BadRequest(
            "a partner id is 3 to 32 of a-z 0-9 -, starts with a letter,"
            " and is neither test nor live"
        )
    name = account_name(command.name)
    if isinstance(name, BadRequest):
        return name
    invite = invites.issue(
        context.new_id(ids.INVITE), command.admin_email, "admin", "admin", None, context.now
    )
    if isinstance(invite, Refusal):
        return invite
    account = _new_account(partner_id, name, context.versions, context.now)
    return Write(
        account=account,
        stmts=insert_invite(partner_id, account.event_seq + 1, invite),
        action="account.created",
        detail={"name": name},
        reply=lambda committed: PartnerCreated(committed, invite.invite_id),
    )


def _new_account(partner_id: str, name: str, versions: ServedVersions, now: int) -> Account:
    pin = versions.current
    return Account(
        partner_id=partner_id,
        name=name,
        active=True,
        switched_off_by=None,
        revision=0,
        burst=None,
        rate=None,
        pins={"test": pin, "live": pin},
        generations={"test": 0, "live": 0},
        admin_domain=None,
        agreed_terms_version=None,
        agreed_terms_at=None,
        event_seq=0,
        created_at=now,
        keys=(),
        licences={},
        origins={"test": (), "live": ()},
        prices={"test": {}, "live": {}},
    )


def switch_account(account: Account, command: SwitchAccount, context: Context) -> AccountDecision:
    """Decide to switch an account on or off.

    Only the platform switches on what the platform switched off. The platform may also switch off
    an account that an admin has switched off; from then on only the platform can switch it on.
    """
    takes_over = (
        not command.active and command.by == PLATFORM and account.switched_off_by != PLATFORM
    )
    if account.active == command.active and not takes_over:
        return refuse("account_active" if account.active else "account_inactive")
    if command.active and account.switched_off_by == PLATFORM and command.by != PLATFORM:
        return refuse("role_forbidden")
    off_by = None if command.active else command.by
    return Write(
        account=replace(account, active=command.active, switched_off_by=off_by),
        stmts=(),
        action="account.reactivated" if command.active else "account.deactivated",
        detail={},
        reply=as_committed,
        endpoints=ENVIRONMENTS,
    )


def emergency_stop(account: Account, command: EmergencyStop, context: Context) -> AccountDecision:
    """Decide to raise an environment's generation, so that all older session tokens are invalid.

    The write also adds the mark of the stop, which stays until all open play is closed.
    """
    environment, now = command.environment, context.now
    generation = account.generations[environment] + 1
    generations = {**account.generations, environment: generation}
    return Write(
        account=replace(account, generations=generations),
        stmts=(put_stop(account.partner_id, environment, generation, now),),
        action="emergency_stop.ordered",
        detail={"environment": environment},
        reply=lambda committed: StopMarked(committed, environment, generation, now),
    )
