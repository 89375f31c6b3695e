import re

import pytest

from pgs.domain.errors import refuse
from pgs.domain.factors import FRESH_S, WINDOW_S, Factor, Window
from pgs.domain.roles import (
    ADMIN_RULES,
    ROLES,
    AdminRule,
    Role,
    admit,
    can_grant,
    may,
    needs_factor,
    rank,
    rule_of,
)

READS = [rule for rule in ADMIN_RULES if rule.method == "GET"]
WRITES = [rule for rule in ADMIN_RULES if rule.method != "GET"]
OWN = {"POST invites/{invite_id}/accept", "POST totp/enroll", "POST totp/verify"}


def call(rule: AdminRule) -> str:
    return f"{rule.method} {rule.path.removeprefix('/partner/admin/')}"


def calls(role: Role, rules: list[AdminRule]) -> set[str]:
    return {call(rule) for rule in rules if may(role, rule)}


def test_every_call_is_in_the_table_once_and_below_the_admin_prefix() -> None:
    assert len({(rule.method, rule.path) for rule in ADMIN_RULES}) == len(ADMIN_RULES)
    for rule in ADMIN_RULES:
        assert re.fullmatch(r"/partner/admin/[a-z-]+(?:/(?:[a-z-]+|\{[a-z_]+\}))*", rule.path)


def test_the_parameters_in_the_paths_are_exactly_these() -> None:
    names = {name for rule in ADMIN_RULES for name in re.findall(r"\{(\w+)\}", rule.path)}
    assert names == {"env", "key_id", "uid", "invite_id", "game_id", "invoice_id", "line_id"} | {
        "match_id",
        "seat_id",
        "attempt_id",
    }


def test_an_admin_may_make_every_call() -> None:
    assert all(may("admin", rule) for rule in ADMIN_RULES)


@pytest.mark.parametrize("role", ["developer", "viewer"])
def test_developers_and_viewers_read_everything_but_the_invites(role: Role) -> None:
    assert {call(rule) for rule in READS} - calls(role, READS) == {"GET invites"}


def test_exactly_these_calls_of_the_admin_api_are_reads() -> None:
    assert {call(rule).removeprefix("GET ") for rule in READS} == {
        "account",
        "rake-terms",
        "keys",
        "origins",
        "prices/{env}",
        "tiers",
        "webhooks/{env}",
        "webhooks/{env}/attempts",
        "members",
        "invites",
        "games",
        "theme/{env}",
        "usage/{env}",
        "seat-summary/{env}",
        "invoices",
        "invoices/{invoice_id}",
        "invoices/{invoice_id}/lines",
        "invoices/{invoice_id}/lines/{line_id}/matches",
        "live",
        "events",
        "readiness",
        "matches",
        "matches/{match_id}",
        "seats",
        "seats/{seat_id}",
        "invites/mine",
    }


def test_a_viewer_writes_nothing_but_their_own_authenticator_and_acceptance() -> None:
    assert calls("viewer", WRITES) == OWN


def test_a_developer_also_writes_keys_origins_webhooks_games_theme_pin_and_test_matches() -> None:
    assert calls("developer", WRITES) - OWN == {
        "POST keys",
        "POST keys/{key_id}/rotate",
        "DELETE keys/{key_id}",
        "POST origins",
        "DELETE origins",
        "POST webhooks/{env}",
        "POST webhooks/{env}/rotate-secret",
        "POST webhooks/{env}/disable",
        "POST webhooks/{env}/test",
        "POST webhooks/{env}/attempts/{attempt_id}/resend",
        "POST games/{game_id}/test",
        "DELETE games/{game_id}/test",
        "PUT theme/{env}",
        "POST api-version",
        "POST test-match",
    }


def test_only_an_admin_changes_people_prices_terms_domain_switches_and_live_requests() -> None:
    assert calls("admin", WRITES) - calls("developer", WRITES) == {
        "POST account/domain",
        "POST account/deactivate",
        "POST account/reactivate",
        "POST emergency-stop",
        "POST rake-terms",
        "PUT prices/{env}",
        "PATCH members/{uid}",
        "DELETE members/{uid}",
        "DELETE members/{uid}/totp",
        "POST invites",
        "DELETE invites/{invite_id}",
        "POST games/{game_id}/live-request",
        "DELETE games/{game_id}/live-request",
    }


def test_no_read_needs_a_code() -> None:
    assert {rule.step_up for rule in READS} == {"none"}


def test_calls_that_make_a_credential_or_reactivate_need_a_fresh_code() -> None:
    assert {call(rule) for rule in ADMIN_RULES if rule.step_up == "fresh"} == {
        "POST keys",
        "POST keys/{key_id}/rotate",
        "POST account/reactivate",
        "POST webhooks/{env}",
        "POST webhooks/{env}/rotate-secret",
        "POST totp/enroll",
    }


def test_only_these_writes_need_no_code() -> None:
    assert {call(rule) for rule in WRITES if rule.step_up == "none"} == {
        "POST webhooks/{env}/disable",
        "POST webhooks/{env}/test",
        "POST webhooks/{env}/attempts/{attempt_id}/resend",
        "POST invites/{invite_id}/accept",
        "POST test-match",
        "POST totp/verify",
    }


def test_only_reading_and_accepting_ones_own_invite_need_no_membership() -> None:
    assert [call(rule) for rule in ADMIN_RULES if not rule.membership] == [
        "GET invites/mine",
        "POST invites/{invite_id}/accept",
    ]


def test_only_enrolling_is_open_to_members_without_an_authenticator() -> None:
    assert [call(rule) for rule in ADMIN_RULES if rule.once_enrolled] == ["POST totp/enroll"]


@pytest.mark.parametrize(
    ("granter", "granted"),
    [
        ("admin", {"admin", "developer", "viewer"}),
        ("developer", {"developer", "viewer"}),
        ("viewer", {"viewer"}),
    ],
)
def test_a_member_grants_their_own_role_or_a_lesser_one(granter: Role, granted: set[Role]) -> None:
    assert {role for role in ROLES if can_grant(granter, role)} == granted


def test_the_roles_rank_from_viewer_to_admin() -> None:
    assert rank("viewer") < rank("developer") < rank("admin")


def test_a_call_is_found_by_method_and_template_only() -> None:
    for rule in ADMIN_RULES:
        assert rule_of(rule.method, rule.path) is rule
    with pytest.raises(KeyError):
        rule_of("PUT", "/partner/admin/keys")
    with pytest.raises(KeyError):
        rule_of("GET", "/partner/admin/nothing")


NONE, STALE, CLOSED = Factor(), Factor("sealed", windows=(Window("here", 100),)), Factor("sealed")


@pytest.mark.parametrize(
    ("path", "role", "factor", "reason"),
    [
        ("keys", None, STALE, "not_a_partner_admin"),
        ("keys", "viewer", NONE, "role_forbidden"),  # before step-up
        ("keys", "developer", NONE, "totp_not_enrolled"),
        ("keys", "developer", CLOSED, "step_up_required"),
        ("keys", "developer", STALE, "fresh_step_up_required"),
        ("origins", "developer", STALE, None),
        ("origins", "developer", CLOSED, "step_up_required"),
        ("totp/enroll", "viewer", NONE, None),
        ("totp/enroll", "viewer", STALE, "fresh_step_up_required"),
        ("totp/enroll", None, NONE, "not_a_partner_admin"),
        ("totp/verify", "viewer", NONE, None),
        ("invites/{invite_id}/accept", None, NONE, None),
    ],
)
def test_the_first_check_that_fails_gives_the_reason(
    path: str, role: Role | None, factor: Factor, reason: str | None
) -> None:
    assert FRESH_S < WINDOW_S
    verdict = admit(rule_of("POST", f"/partner/admin/{path}"), role, factor, "here", 100 + FRESH_S)
    assert verdict == (None if reason is None else refuse(reason))


@pytest.mark.parametrize("rule", ADMIN_RULES, ids=call)
def test_an_authenticator_is_needed_only_where_it_changes_the_verdict(rule: AdminRule) -> None:
    for role in ROLES:
        asked = rule.step_up != "none" and role in rule.roles
        assert needs_factor(rule, role) == asked
        if not asked:
            assert admit(rule, role, NONE, "", 0) == admit(rule, role, STALE, "", 0)
    assert not needs_factor(rule, None)
