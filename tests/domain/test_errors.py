import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgs.domain.errors import ERRORS, BadRequest, Refusal, message_of, refuse

SOURCE = Path(__file__).parents[2] / "src" / "pgs"

# A second copy of the contract with partners, so that an accidental change of a status fails here.
STATUSES = {
    400: "unsupported_api_version malformed_player_id unknown_tier stake_below_floor "
    "stake_does_not_match_price stake_above_prize "
    "invalid_cursor missing_parameter malformed_day range_backwards range_too_wide day_not_final "
    "range_too_expensive "
    "invoice_status_invalid label_required invalid_origin too_many_origins below_floor "
    "invalid_domain invalid_email "
    "address_outside_domain invalid_webhook_url unknown_game",
    401: "invalid_key sign_in_required",
    402: "stake_declined",
    403: "partner_inactive test_key_against_live live_key_against_test game_not_licensed "
    "game_not_licensed_in_this_environment "
    "test_key_required rake_terms_not_agreed cross_environment_join live_theme_not_writable "
    "not_a_partner_admin role_forbidden "
    "totp_not_enrolled step_up_required fresh_step_up_required invalid_code wrong_address expired",
    404: "seat_not_found match_not_found invoice_not_found key_not_found origin_not_found "
    "member_not_found invite_not_found attempt_not_found "
    "webhook_not_configured",
    409: "tier_locked idempotency_key_conflict match_already_decided invoice_not_readable "
    "seat_not_waiting "
    "partner_changed account_active "
    "account_inactive terms_already_agreed key_not_active domain_already_set last_admin "
    "already_accepted "
    "already_administers_another_partner already_a_member webhook_not_enabled "
    "not_licensed_in_test already_live",
    422: "logo_unsupported_type logo_malformed logo_too_large logo_not_that_image "
    "theme_field_invalid",
    429: "rate_limited step_up_locked test_event_too_soon",
    500: "registry_unavailable",
    503: "settlement_unavailable",
}
EXTRAS = {
    "seat_not_waiting": {"status"},
    "stake_below_floor": {"floorUsdCents"},
    "below_floor": {"floorUsdCents"},
    "stake_does_not_match_price": {"expectedUsdCents"},
    "stake_above_prize": {"ceilingUsdCents"},
    "missing_parameter": {"parameter"},
    "malformed_day": {"parameter"},
    "theme_field_invalid": {"parameter"},
    "range_too_wide": {"maxRangeDays"},
    "day_not_final": {"latestDay"},
    "logo_too_large": {"maxBytes"},
    "live_theme_not_writable": {"changeItAt"},
    "stake_declined": {
        "seatId",
        "matchId",
        "status",
        "stakeStatus",
        "environment",
        "gameId",
        "tierId",
        "playerId",
        "stakeUsdCents",
        "prizeUsdCents",
        "seatedAt",
        "expiresAt",
        "idempotencyKey",
        "partnerRef",
    },
}


def test_every_reason_has_the_status_that_partners_were_promised() -> None:
    assert {reason: kind.status for reason, kind in ERRORS.items()} == {
        reason: status for status, reasons in STATUSES.items() for reason in reasons.split()
    }


def test_two_reasons_have_a_second_status() -> None:
    assert {r: k.elsewhere for r, k in ERRORS.items() if k.elsewhere} == {
        "registry_unavailable": 503,
        "totp_not_enrolled": 409,
    }


def test_only_some_errors_carry_more_fields() -> None:
    found = {reason: set(kind.extras) for reason, kind in ERRORS.items() if kind.extras}
    assert found == EXTRAS


def test_optional_fields_are_fields_of_their_row() -> None:
    assert all(set(kind.optional) <= set(kind.extras) for kind in ERRORS.values())


def test_every_row_has_its_own_reason_and_a_message() -> None:
    for reason, kind in ERRORS.items():
        assert kind.reason == reason
        assert kind.message[0].isupper() or kind.message.startswith(("playerId",))
        assert kind.message.endswith(".")
        assert len(kind.message) <= 160


def test_no_two_reasons_share_a_message() -> None:
    assert len({kind.message for kind in ERRORS.values()}) == len(ERRORS)


def test_no_reason_of_a_frame_is_also_an_error_reason() -> None:
    frame_reasons = {"match_over", "stale_ply", "not_your_turn", "illegal_move", "bad_message"}
    assert not frame_reasons & ERRORS.keys()


def test_a_refusal_carries_its_fields_and_its_message() -> None:
    refusal = refuse("stake_below_floor", floorUsdCents=100)
    assert refusal == Refusal("stake_below_floor", {"floorUsdCents": 100})
    assert message_of(refusal) == ERRORS["stake_below_floor"].message


def test_an_optional_field_may_be_left_out() -> None:
    assert refuse("malformed_day").extras == {}
    assert refuse("malformed_day", parameter="from").extras == {"parameter": "from"}


def test_an_unknown_reason_is_a_bug() -> None:
    with pytest.raises(KeyError):
        refuse("no_such_reason")
    with pytest.raises(KeyError):
        message_of(Refusal("no_such_reason"))


def test_a_field_that_the_row_does_not_name_is_a_bug() -> None:
    with pytest.raises(TypeError, match="ceilingUsdCents"):
        refuse("stake_below_floor", floorUsdCents=1, ceilingUsdCents=2)


def test_a_field_that_the_row_requires_must_be_given() -> None:
    with pytest.raises(TypeError, match="parameter"):
        refuse("missing_parameter")


def test_refusals_do_not_share_their_fields() -> None:
    assert Refusal("expired").extras is not Refusal("expired").extras


def test_a_bad_request_is_no_refusal() -> None:
    assert not isinstance(BadRequest("stakeUsdCents must be an integer"), Refusal)


def refusals_in_the_source() -> Iterator[tuple[str, str, set[str]]]:
    """Yield place, reason and field names of every refusal with a literal reason.

    Such a refusal is written `refuse("…", …)` or `Refusal("…", {…})`.
    """
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not (
                isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)
            ):
                continue
            name = (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else getattr(node.func, "id", "")
            )
            if name not in ("refuse", "Refusal") or not isinstance(node.args[0].value, str):
                continue
            fields = {keyword.arg for keyword in node.keywords if keyword.arg and name == "refuse"}
            for part in [*node.args[1:], *(keyword.value for keyword in node.keywords)]:
                if isinstance(part, ast.Dict) and name == "Refusal":
                    fields |= {
                        key.value
                        for key in part.keys
                        if isinstance(key, ast.Constant) and isinstance(key.value, str)
                    }
            yield f"{path.name}:{node.lineno}", node.args[0].value, fields


def test_every_refusal_in_the_source_fits_the_catalogue() -> None:
    found = list(refusals_in_the_source())
    assert any(reason == "unsupported_api_version" for _, reason, _ in found), (
        "the search finds nothing at all"
    )
    assert [
        (where, reason)
        for where, reason, fields in found
        if reason not in ERRORS or not fields <= set(ERRORS[reason].extras)
    ] == []
