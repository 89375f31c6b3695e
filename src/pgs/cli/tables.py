"""Operator records as tables and lines for the terminal."""

from datetime import UTC, datetime

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pgs.cli.errors import plain
from pgs.domain.environments import ENVIRONMENTS
from pgs.domain.plurals import counted
from pgs.operator import records as r
from pgs.operator.invoice_records import InvoiceSummary, InvoiceWithLines


def money(cents: int) -> str:
    """Return US cents as dollars: `1.80 USD`."""
    dollars, rest = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}{dollars:,}.{rest:02} USD"


def moment(at: int | None) -> str:
    """Return epoch seconds as a UTC time, and None as a dash."""
    if at is None:
        return "–"
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def cell(value: object) -> Text:
    """Return a cell's text without control characters; a long one folds instead of being cut."""
    return Text(plain(str(value)), overflow="fold")


def new_table(title: str, *columns: str) -> Table:
    return Table(*columns, title=title, title_justify="left", header_style="bold")


def add_row(table: Table, *values: object) -> None:
    table.add_row(*(cell(value) for value in values))


def _facts(title: str, facts: dict[str, object]) -> Table:
    table = Table(title=title, title_justify="left", show_header=False)
    for name, value in facts.items():
        add_row(table, name, value)
    return table


def _on(*, active: bool) -> str:
    return "on" if active else "off"


def partner_list(partners: list[r.PartnerSummary]) -> RenderableType:
    table = new_table(f"Partners: {len(partners)}", "Id", "Name", "Play", "Created", "Revision")
    for partner in partners:
        add_row(
            table,
            partner.partner_id,
            partner.name,
            _on(active=partner.active),
            moment(partner.created_at),
            partner.revision,
        )
    return table


def partner(record: r.PartnerRecord) -> RenderableType:
    """Draw one partner with its games, keys and members."""
    facts: dict[str, object] = {
        "Name": record.name,
        "Play": _on(active=record.active)
        + (f" (switched off by {record.switched_off_by})" if record.switched_off_by else ""),
        "Created": moment(record.created_at),
        "Revision": record.revision,
        "Bucket": f"{counted(record.burst, 'request')} at once, {record.rate} a second",
        "Terms agreed": f"version {record.agreed_terms_version}, {moment(record.agreed_terms_at)}"
        if record.agreed_terms_version
        else "–",
        "Admin domain": record.admin_domain or "–",
    }
    for environment in ENVIRONMENTS:
        prices = ", ".join(
            f"{tier_id} {money(cents)}" for tier_id, cents in record.prices[environment].items()
        )
        hook = record.webhooks.get(environment)
        facts |= {
            f"API version, {environment}": record.pins[environment],
            f"Origins, {environment}": ", ".join(record.origins[environment]) or "–",
            f"Prices, {environment}": prices or "–",
            f"Webhook, {environment}": "–"
            if hook is None
            else f"{hook.url} ({_on(active=hook.enabled)}, "
            f"{counted(hook.consecutive_failures, 'failure')})",
        }
    games = new_table("Games", "Game", "Test", "Live", "Note")
    for held in record.licences:
        missing = "" if held.installed else "not installed here: "
        add_row(
            games,
            held.game_id,
            _on(active=held.test),
            held.live,
            (missing + (held.note or "")).removesuffix(": "),
        )
    keys = new_table(
        "Keys", "Id", "Environment", "Label", "Ends in", "Status", "Created", "Revoked at"
    )
    for key in record.keys:
        add_row(
            keys,
            key.key_id,
            key.environment,
            key.label,
            key.last4,
            key.status,
            moment(key.created_at),
            moment(key.revokes_at),
        )
    members = new_table("Members", "User id", "Address", "Role")
    for member in record.members:
        add_row(members, member.uid, member.email, member.role)
    parts = ((games, record.licences), (keys, record.keys), (members, record.members))
    return Group(
        _facts(f"Partner {record.partner_id}", facts),
        *(table for table, entries in parts if entries),
    )


def link_of_invite(url: str | None) -> list[RenderableType]:
    """Draw the address of an invite's page in the portal; nothing if there is none."""
    return [] if url is None else [cell(f"Its page in the portal: {url}")]


def partner_created(record: r.PartnerCreated) -> RenderableType:
    """Draw a new partner with the invite of its first admin."""
    return Group(
        cell(f"Partner {record.partner_id} ({record.name}) has an account now."),
        cell(f"Invite of its first admin: {record.invite_id}"),
        *link_of_invite(record.invite_url),
        cell("The admin accepts it after signing in with that address, within 7 days."),
    )


def partner_switched_off(record: r.PartnerSwitchedOff) -> RenderableType:
    """Draw what a deactivation did."""
    return cell(
        f"Partner {record.partner_id} is switched off. "
        f"Waiting seats and running matches that were ended: {record.ended}."
    )


def partner_switched_on(record: r.PartnerRecord) -> RenderableType:
    """Draw what a reactivation did."""
    return cell(f"Partner {record.partner_id} is switched on.")


def terms(published: r.TermsPublished) -> RenderableType:
    """Draw the version of newly published terms."""
    return cell(f"Version {published.version} of the rake terms is on offer.")


def authenticator_reset(member: r.AuthenticatorReset) -> RenderableType:
    """Draw the member whose authenticator was removed."""
    return cell(
        f"{member.email} ({member.uid}) of {member.partner_id} no longer has an authenticator "
        "and can enrol a new one."
    )


def ledger(report: r.LedgerChecked) -> RenderableType:
    """Draw the report on the ledgers."""
    sums = new_table(
        "Ledgers", "Environment", "Rows", "Stakes", "Payouts", "Refunds", "Rake", "Open stakes"
    )
    for of in report.totals:
        add_row(
            sums,
            of.environment,
            of.rows,
            money(of.stakes_usd_cents),
            money(of.payouts_usd_cents),
            money(of.refunds_usd_cents),
            money(of.rake_usd_cents),
            money(of.open_usd_cents),
        )
    facts: dict[str, object] = {
        "Verdict": "sound" if report.sound else "NOT SOUND",
        "Broken chains": ", ".join(report.broken_chains) or "none",
        "Seats that differ from the ledger": ", ".join(report.seats_booked_otherwise) or "none",
        "Matches that do not add up": ", ".join(report.matches_that_do_not_add_up) or "none",
        "Rows that belong to no seat": ", ".join(report.stray_rows) or "none",
        "Days that do not add up": ", ".join(report.days_that_do_not_add_up) or "none",
        "Invoices that do not add up": ", ".join(report.invoices_that_do_not_add_up) or "none",
        "Heads that do not add up": ", ".join(report.heads_that_do_not_add_up) or "none",
    }
    return Group(sums, _facts("Check", facts))


def invoices(listed: list[InvoiceSummary]) -> RenderableType:
    """Draw a list of invoices."""
    table = new_table(
        f"Invoices: {len(listed)}",
        "Partner",
        "Environment",
        "Number",
        "Month",
        "Status",
        "Total",
        "Lines",
        "Due",
        "Id",
    )
    for each in listed:
        add_row(
            table,
            each.partner_id,
            each.environment,
            _or_dash(each.number),
            each.month,
            each.status,
            "–" if each.total_usd_cents is None else money(each.total_usd_cents),
            _or_dash(each.line_count),
            moment(each.due_at),
            each.invoice_id,
        )
    return table


def invoice(record: InvoiceSummary) -> RenderableType:
    """Draw one invoice."""
    facts: dict[str, object] = {
        "Id": record.invoice_id,
        "Partner": record.partner_id,
        "Environment": record.environment,
        "Number": _or_dash(record.number),
        "Period": f"{record.period_from} to {record.period_to}",
        "Status": record.status,
        "Total": "–" if record.total_usd_cents is None else money(record.total_usd_cents),
        "Finalized": moment(record.finalized_at),
        "Due": moment(record.due_at),
        "Paid": moment(record.paid_at),
        "Voided": moment(record.voided_at),
    }
    return _facts("Invoice", facts)


def invoice_with_lines(record: InvoiceWithLines) -> RenderableType:
    table = new_table(
        f"Lines: {len(record.lines)}", "Line", "Day", "Game", "Tier", "Matches", "Amount"
    )
    for line in record.lines:
        add_row(
            table,
            line.line,
            line.day,
            line.game_id,
            line.tier_id,
            line.matches,
            money(line.amount_usd_cents),
        )
    return Group(invoice(record.invoice), table)


def _or_dash(value: int | None) -> object:
    return "–" if value is None else value


def database(report: r.DatabaseChecked) -> RenderableType:
    """Draw the report on the database."""
    facts: dict[str, object] = {
        "Verdict": "sound" if report.sound else "NOT SOUND",
        "Migrations": ", ".join(report.migrations),
    }
    return _facts(
        "Database", facts | ({"Problems": "; ".join(report.problems)} if report.problems else {})
    )


def migrated(report: r.DatabaseMigrated) -> RenderableType:
    """Draw the applied migrations."""
    return cell(f"The database is up to date: {', '.join(report.migrations)}")


def backed_up(report: r.DatabaseBackedUp) -> RenderableType:
    """Draw a backup's folder and size."""
    return _facts(
        "Backup",
        {
            "Folder": report.folder,
            "Size": f"{report.bytes:,} bytes",
            "Restore": f"pgs db restore {report.folder}",
        },
    )


def keyring(ring: r.Keyring) -> RenderableType:
    """Draw the key ring's file and the names of its keys."""
    return _facts(
        "Key ring", {"File": ring.file, "Keys, the one in use first": ", ".join(ring.kids)}
    )
