"""The reasons with which a call can be refused."""

from typing import Final

from pgs.domain.errors import ERRORS
from pgs.domain.roles import rule_of
from pgs.http.api.endpoint import Credential, Endpoint

OF_EVERY_CALL: Final[dict[Credential | None, tuple[str, ...]]] = {
    "partner_key": (
        "invalid_key",
        "rate_limited",
        "partner_inactive",
        "unsupported_api_version",
        "test_key_against_live",
        "live_key_against_test",
        "registry_unavailable",
    ),
    "identity": ("sign_in_required", "rate_limited", "registry_unavailable"),
    "session": ("rate_limited", "partner_inactive", "registry_unavailable"),
    None: (),
}
"""The reasons that all calls with the same kind of credential share."""


def reasons_of(endpoint: Endpoint) -> tuple[str, ...]:
    """Return every reason of a call, in the order of the catalogue."""
    own = {*OF_EVERY_CALL[endpoint.credential], *endpoint.errors, *_of_authorization(endpoint)}
    own.add(endpoint.outage)
    if endpoint.crash is not None:
        own.add(endpoint.crash)
    return tuple(reason for reason in ERRORS if reason in own)


def _of_authorization(endpoint: Endpoint) -> list[str]:
    if endpoint.credential != "identity":
        return []
    rule = rule_of(endpoint.method, endpoint.path)
    found = ["not_a_partner_admin", "role_forbidden"] if rule.membership else []
    if rule.step_up != "none":
        found += ["totp_not_enrolled", "step_up_required"]
    if rule.step_up == "fresh":
        found.append("fresh_step_up_required")
    return found
