"""What is decided about an account as a whole: its opening, its switch, its domain, its rate, and the emergency stop."""

from msgspec.structs import replace

from pgs.actors.account.decisions import AccountDecision, Context, Write, as_committed
from pgs.actors.messages import account as m
from pgs.domain import ids, invites
from pgs.domain.accounts import Account
from pgs.domain.domains import set_domain as domain_to_set
from pgs.domain.environments import ENVIRONMENTS
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.members import PLATFORM
from pgs.domain.names import LABEL_MAX
from pgs.domain.rate import check_bucket
from pgs.storage.invites import insert_invite
from pgs.storage.stops import put_stop


def create(
    partner_id: str, command: m.CreatePartner, context: Context
) -> Write | BadRequest | Refusal:
    """Decide to open an account. It holds nothing yet but an invite for its first admin."""
    name, pin = command.name.strip(), context.versions.current
    if not name or len(name) > LABEL_MAX:
        return BadRequest(f"name must be 1 to {LABEL_MAX} characters")
    invite = invites.issue(
        context.new_id(ids.INVITE), command.admin_email, "admin", "admin", None, context.now
    )
    if isinstance(invite, Refusal):
        return invite
    account = Account(
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
        created_at=context.now,
        keys=(),
        licences={},
        origins={"test": (), "live": ()},
        prices={"test": {}, "live": {}},
    )
    stmts = insert_invite(partner_id, account.event_seq + 1, invite)
    return Write(
        account,
        stmts,
        "account.created",
        {"name": name},
        lambda committed: (committed, invite.invite_id),
    )


def switch_account(account: Account, command: m.SwitchAccount, context: Context) -> AccountDecision:
    """Decide to switch an account on or off. What the platform switched off only the platform switches on.

    The platform may also switch off what an admin has switched off already: from then on it is the platform's to switch on.
    """
    takes_over = (
        not command.active and command.by == PLATFORM and account.switched_off_by != PLATFORM
    )
    if account.active == command.active and not takes_over:
        return refuse("account_active" if account.active else "account_inactive")
    if command.active and account.switched_off_by == PLATFORM and command.by != PLATFORM:
        return refuse("role_forbidden")
    after = replace(
        account, active=command.active, switched_off_by=None if command.active else command.by
    )
    return Write(
        after,
        (),
        "account.reactivated" if command.active else "account.deactivated",
        {},
        as_committed,
        ENVIRONMENTS,
    )


def set_domain(account: Account, command: m.SetDomain, context: Context) -> AccountDecision:
    """Decide on the domain in which invites must lie from now on. Members and invites that are there already stay."""
    domain = domain_to_set(command.domain, account.admin_domain, command.email)
    if isinstance(domain, Refusal):
        return domain
    return Write(
        replace(account, admin_domain=domain),
        (),
        "account.domain_set",
        {"domain": domain},
        as_committed,
    )


def set_rate(account: Account, command: m.SetRate, context: Context) -> AccountDecision:
    """Decide on a partner's own rate bucket."""
    wrong = check_bucket(command.burst, command.rate)
    if wrong is not None:
        return wrong
    after = replace(
        account,
        burst=account.burst if command.burst is None else command.burst,
        rate=account.rate if command.rate is None else command.rate,
    )
    return Write(
        after, (), "account.rate_set", {"burst": after.burst, "rate": after.rate}, as_committed
    )


def emergency_stop(account: Account, command: m.EmergencyStop, context: Context) -> AccountDecision:
    """Decide to kill an environment's tokens, by raising their generation, and to mark what is open there for closing."""
    environment = command.environment
    generation = account.generations[environment] + 1
    after = replace(account, generations={**account.generations, environment: generation})
    stmt = put_stop(account.partner_id, environment, generation, context.now)
    return Write(
        after,
        (stmt,),
        "emergency_stop.ordered",
        {"environment": environment},
        lambda committed: m.StopMarked(committed, environment, generation, context.now),
    )
