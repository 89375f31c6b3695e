"""The text of docs/limits.md: what it says of each limit, and under which heading."""

import re
from collections.abc import Iterable, Sequence

from limits.collect import Bound, Number

HEAD = """\
# Limits

This page is for operators who size a machine, for partners' developers who meet a limit, and for
everybody who changes one. It lists every number in the code that limits something, with its unit
and its reason.

`scripts/write_limits.py` writes this page from the code under `src/pgs`; a test fails when the page
is stale. Limits that an operator can change are settings: [operations.md](operations.md).
"""

GROUPS: Sequence[tuple[str, Sequence[str]]] = (
    (
        "The results feed and lists",
        ("http/partner/results.py", "http/api/lists.py", "feed_bells"),
    ),
    ("Requests and connections", ("http/transport/", "http/api/", "http/internal.py")),
    ("Requests and connections", ("domain/suggestions.py", "http/guide/")),
    (
        "Calls and keys of a partner",
        ("domain/token_buckets.py", "domain/keys.py", "domain/names.py"),
    ),
    ("Calls and keys of a partner", ("domain/cursors.py", "domain/ids.py", "shared/key_uses.py")),
    ("Accounts, members and sign-in", ("http/admin/", "http/identity/", "actors/account/")),
    ("Accounts, members and sign-in", ("domain/members.py", "domain/invites.py", "domain/emails")),
    ("Accounts, members and sign-in", ("domain/factors.py", "domain/totp.py", "domain/origins.py")),
    ("Accounts, members and sign-in", ("shared/activity.py",)),
    ("Accounts, members and sign-in", ("http/outbound/fetch.py",)),
    (
        "Webhooks",
        (
            "actors/delivery/",
            "domain/nudges.py",
            "domain/ip_addresses.py",
            "domain/webhook_urls.py",
        ),
    ),
    ("Money", ("http/outbound/settlement_client.py", "domain/settlement_retries.py")),
    ("Webhooks", ("http/outbound/", "shared/deliveries.py", "domain/secrets.py")),
    ("Webhooks", ("actors/maintenance/webhooks.py",)),
    (
        "Money",
        (
            "actors/seating/settlement_call.py",
            "shared/circuit_breaker.py",
            "shared/settlement_asks.py",
        ),
    ),
    ("Money", ("shared/settlements.py", "shared/open_money.py", "maintenance/open_money.py")),
    (
        "Seats and pairing",
        ("actors/seating/", "domain/live_pairing.py", "domain/matches.py", "domain/seats.py"),
    ),
    ("Players, matches and the frame", ("http/game/", "http/embed/", "actors/play/", "games/")),
    ("Players, matches and the frame", ("domain/themes.py", "domain/socket_frames.py")),
    (
        "Players, matches and the frame",
        ("domain/play.py", "domain/sessions.py", "domain/match_clocks.py"),
    ),
    ("Players, matches and the frame", ("shared/table_alarms.py", "shared/presence.py")),
    ("Money", ("domain/tiers.py", "actors/catalogue_actor.py", "domain/ledger.py")),
    ("Money", ("domain/days.py", "domain/invoices.py", "http/billing/", "actors/billing_actor.py")),
    ("Money", ("actors/maintenance/billing.py", "storage/ledger.py", "storage/invoices.py")),
    ("Actors and background work", ("actors/",)),
    ("Storage", ("storage/", "keyfile.py", "domain/keyring.py", "domain/sealed.py")),
    ("Several nodes", ("domain/shards.py", "domain/leases.py", "http/nodes/")),
    ("Several nodes", ("domain/node_proofs.py",)),
    (
        "The process and its log",
        ("logs.py", "process.py", "serve.py", "service_readiness.py", "clock.py", "config.py"),
    ),
    ("The process and its log", ("domain/service_urls.py",)),
    ("Operator commands", ("operator/", "cli/", "doctor/")),
    ("The demo and its identity provider", ("demo/", "devissuer/")),
)
"""Headings, each with parts of paths. A limit stands below the first heading with a part that
occurs in the path of the limit's file. The page has each heading once, in this list's order."""

NOT_LIMITS = (
    "Bit mask",
    "Class of",
    "Close code",
    "Example values",
    "Exit code",
    "Mark",
    "Port of",
    "Price of",
    "Prize of",
    "Scale of",
    "Sequence number",
    "Time before",
    "Unix time",
)
"""How the sentence of a number begins if the number limits nothing. The page leaves it out."""

WORDS_MIN = 8
"""Words that a sentence must have at least, since it gives a unit and a reason."""

_SUFFIXES = {
    "_s": "s",
    "_ms": "ms",
    "_bytes": "bytes",
    "_chars": "characters",
    "_connections": "connections",
}
_PLURAL = re.compile(r"[A-Z][a-z-]+s\b")
_NO_UNITS = {"Always", "Its", "Limits", "This"}  # words that look like a plural but are not
_SPANS = ((86_400, "day"), (3600, "hour"), (60, "minute"))
_SIZES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def is_limit(bound: Bound) -> bool:
    """Return whether a number is a limit.

    A number is no limit if its sentence begins with one of `NOT_LIMITS`, or its name ends with
    `_code`.
    """
    return not (bound.text.startswith(NOT_LIMITS) or bound.name.endswith("_code"))


def unit_of(bound: Bound) -> str | None:
    """Return a number's unit, from the end of its name or the noun that begins its sentence."""
    name = bound.name.partition("[")[0].lower()
    for suffix, unit in _SUFFIXES.items():
        if name.endswith(suffix) and not name.endswith(f"_per{suffix}"):
            return unit
    found = _PLURAL.match(bound.text)
    return None if found is None or found[0] in _NO_UNITS else found[0].lower()


def fault_of(bound: Bound) -> str | None:
    """Return what a number's sentence lacks, or None."""
    if len(bound.text.split()) < WORDS_MIN:
        return "has no sentence that tells its unit and its reason"
    if is_limit(bound) and unit_of(bound) is None:
        return "has a sentence that does not begin with its unit, in the plural"
    return None


def heading_of(bound: Bound) -> str | None:
    """Return the heading below which a limit is listed, or None for a file that has none."""
    for heading, parts in GROUPS:
        if any(part in bound.file for part in parts):
            return heading
    return None


def page(bounds: Iterable[Bound]) -> str:
    """Return the page as Markdown."""
    rows: dict[str, list[str]] = {heading: [] for heading, _ in GROUPS}
    for bound in filter(is_limit, bounds):
        rows[heading_of(bound) or "Other"].append(_row(bound))
    parts = [HEAD]
    for heading, lines in rows.items():
        if lines:
            table = ["| Value | What it limits, and why | Name |", "| --- | --- | --- |", *lines]
            parts.append("\n".join([f"## {heading}", "", *table, ""]))
    return "\n".join(parts)


def _row(bound: Bound) -> str:
    text = bound.text if bound.text.endswith(".") else f"{bound.text}."
    shown = text.replace("|", "\\|").replace("**", "^")
    return f"| {_value(bound)} | {shown} | `{bound.name}` in `{bound.file}` |"


def _value(bound: Bound) -> str:
    unit = unit_of(bound)
    unit = {"seconds": "s", "milliseconds": "ms"}.get(unit or "", unit)
    if bound.value == 1 and unit and len(unit) > 2:
        return f"1 {unit.removesuffix('s')}"
    plain = f"{_number(bound.value)} {unit}"
    if unit == "s":
        return _with(plain, bound.value, _SPANS)
    if unit == "ms":
        return f"{plain} ({_number(bound.value / 1000)} s)" if bound.value >= 1000 else plain
    return _with(plain, bound.value, _SIZES) if unit == "bytes" else plain


def _with(plain: str, value: Number, scales: Sequence[tuple[int, str]]) -> str:
    """Return a value, followed by the same value in the largest unit that makes it whole."""
    for size, name in scales:
        if value >= size and value % size == 0:
            count = int(value // size)
            plural = "s" if count > 1 and name.islower() else ""
            return f"{plain} ({count} {name}{plural})"
    return plain


def _number(value: Number) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:g}"
