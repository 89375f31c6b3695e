"""What one check of `pgs doctor` found."""

from typing import Literal

import msgspec

Status = Literal["ok", "warning", "problem", "skipped"]
"""`problem`: the service does not start, or people cannot use it. `warning`: the service works, but
the check found something that an operator should know. `skipped`: there is nothing to check, or
this machine cannot tell."""


class Finding(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The result of one check. `next_step` says what to do about a warning or a problem."""

    check: str
    status: Status
    found: str
    next_step: str = ""


class Report(msgspec.Struct, frozen=True, rename="camel"):
    """All findings, in the order of their checks. `sound` is true if no finding is a problem."""

    sound: bool
    checks: tuple[Finding, ...]


def summarised(findings: tuple[Finding, ...]) -> Report:
    """Return the report on some findings."""
    return Report(all(finding.status != "problem" for finding in findings), findings)
