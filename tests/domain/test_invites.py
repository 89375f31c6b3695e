import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.errors import Refusal, refuse
from pgs.domain.invites import INVITE_S, Invite, InviteStatus, accept, issue, revoke
from pgs.domain.roles import ROLES, Role, can_grant

NOW = 1_800_000_000
INVITE = Invite("ivt_1", "Ada@acme.example", "developer", NOW, NOW + INVITE_S)
ACCEPTED = msgspec.structs.replace(INVITE, accepted_by="uid-1")
REVOKED = msgspec.structs.replace(INVITE, revoked_at=NOW)


def test_an_invite_lasts_seven_days_to_the_second() -> None:
    assert INVITE_S == 604_800
    assert [INVITE.status(NOW + after) for after in (0, INVITE_S - 1, INVITE_S)] == [
        "pending",
        "pending",
        "expired",
    ]


@pytest.mark.parametrize(("invite", "status"), [(ACCEPTED, "accepted"), (REVOKED, "revoked")])
def test_an_accepted_or_revoked_invite_does_not_expire(
    invite: Invite, status: InviteStatus
) -> None:
    assert invite.status(NOW) == invite.status(NOW + INVITE_S) == status


# Issuing


def test_a_new_invite_holds_the_address_as_it_is_stored() -> None:
    assert issue("ivt_1", "Ada@ACME.example", "developer", "admin", None, NOW) == INVITE


@pytest.mark.parametrize(("granter", "role"), [*itertools.product(ROLES, ROLES)])
def test_a_member_invites_only_to_their_own_role_or_a_lesser_one(granter: Role, role: Role) -> None:
    made = issue("ivt_1", "ada@acme.example", role, granter, None, NOW)
    assert made == (
        refuse("role_forbidden")
        if not can_grant(granter, role)
        else Invite("ivt_1", "ada@acme.example", role, NOW, NOW + INVITE_S)
    )


@pytest.mark.parametrize("text", ["", "ada", "ada@acme", "Ada <ada@acme.example>"])
def test_a_text_that_is_not_an_address_is_not_invited(text: str) -> None:
    assert issue("ivt_1", text, "viewer", "admin", "acme.example", NOW) == refuse("invalid_email")


@pytest.mark.parametrize(
    "text", ["ada@other.example", "ada@mail.acme.example", "ada@notacme.example"]
)
def test_once_the_domain_is_set_nobody_outside_it_is_invited(text: str) -> None:
    assert isinstance(issue("ivt_1", text, "viewer", "admin", None, NOW), Invite)
    assert issue("ivt_1", text, "viewer", "admin", "acme.example", NOW) == refuse(
        "address_outside_domain"
    )
    assert isinstance(
        issue("ivt_1", "ada@ACME.example", "viewer", "admin", "acme.example", NOW), Invite
    )


def test_a_role_out_of_reach_is_refused_before_the_address_is_read() -> None:
    assert issue("ivt_1", "nonsense", "admin", "developer", "acme.example", NOW) == refuse(
        "role_forbidden"
    )


# Accepting


def test_an_invite_is_accepted_whatever_the_case_of_the_signed_in_address() -> None:
    assert (
        accept(INVITE, "acme", "uid-1", "ADA@Acme.Example", None, None, NOW + INVITE_S - 1)
        == ACCEPTED
    )


@given(
    known=st.booleans(),
    revoked=st.booleans(),
    accepted=st.booleans(),
    expired=st.booleans(),
    address=st.booleans(),
    member_of=st.sampled_from([None, "acme", "other"]),
    domain=st.sampled_from([None, "acme.example", "other.example"]),
)
def test_of_several_reasons_the_first_in_order_is_returned(
    known: bool,
    revoked: bool,
    accepted: bool,
    expired: bool,
    address: bool,
    member_of: str | None,
    domain: str | None,
) -> None:
    invite = msgspec.structs.replace(
        INVITE, revoked_at=NOW if revoked else None, accepted_by="uid-0" if accepted else None
    )
    reasons = [
        ("invite_not_found", not known or revoked),
        ("already_accepted", accepted),
        ("expired", expired),
        ("wrong_address", not address),
        ("already_administers_another_partner", member_of == "other"),
        ("already_a_member", member_of == "acme"),
        ("address_outside_domain", domain == "other.example"),
    ]
    expected = next((refuse(reason) for reason, holds in reasons if holds), None)
    email = "ada@acme.example" if address else "bob@acme.example"
    answer = accept(
        invite if known else None,
        "acme",
        "uid-1",
        email,
        member_of,
        domain,
        NOW + (INVITE_S if expired else 0),
    )
    assert answer == (expected or ACCEPTED)


def test_accepting_an_accepted_invite_again_is_refused() -> None:
    assert accept(ACCEPTED, "acme", "uid-1", "ada@acme.example", "acme", None, NOW) == refuse(
        "already_accepted"
    )


def test_an_invalid_signed_in_address_matches_no_invite() -> None:
    assert accept(INVITE, "acme", "uid-1", "", None, None, NOW) == refuse("wrong_address")


# Revoking


@pytest.mark.parametrize("after", [0, INVITE_S])
def test_a_pending_or_expired_invite_is_revoked(after: int) -> None:
    revoked = revoke(INVITE, NOW + after)
    assert isinstance(revoked, Invite)
    assert revoked == msgspec.structs.replace(INVITE, revoked_at=NOW + after)
    assert revoked.status(NOW + after) == "revoked"


@pytest.mark.parametrize("after", [0, INVITE_S])
@pytest.mark.parametrize(
    ("invite", "answer"),
    [
        (None, refuse("invite_not_found")),
        (REVOKED, refuse("invite_not_found")),
        (ACCEPTED, refuse("already_accepted")),
    ],
)
def test_a_missing_revoked_or_accepted_invite_is_not_revoked(
    invite: Invite | None, answer: Refusal, after: int
) -> None:
    assert revoke(invite, NOW + after) == answer
