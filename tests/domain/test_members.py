import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.errors import refuse
from pgs.domain.members import UID_MAX, Member, change_role, in_order, is_uid, remove
from pgs.domain.roles import ROLES, Role

ADA = Member("ada", "ada@acme.example", "admin", 1)
BOB = Member("bob", "bob@acme.example", "admin", 2)
CAY = Member("cay", "cay@acme.example", "developer", 3)
ONE_ADMIN = {"ada": ADA, "cay": CAY}
TWO_ADMINS = {"ada": ADA, "bob": BOB, "cay": CAY}


@pytest.mark.parametrize("role", ["developer", "viewer"])
def test_the_last_admin_is_neither_demoted_nor_removed(role: Role) -> None:
    assert change_role(ONE_ADMIN, "ada", role, "admin") == refuse("last_admin")
    assert remove(ONE_ADMIN, "ada") == refuse("last_admin")
    assert remove({"ada": ADA}, "ada") == refuse("last_admin")


def test_one_of_two_admins_may_go_or_step_down() -> None:
    assert change_role(TWO_ADMINS, "ada", "viewer", "admin") == msgspec.structs.replace(
        ADA, role="viewer"
    )
    assert remove(TWO_ADMINS, "ada") == ADA


def test_the_last_admin_may_be_given_the_same_role_again() -> None:
    assert change_role(ONE_ADMIN, "ada", "admin", "admin") == ADA


def test_a_member_who_is_not_an_admin_may_always_be_removed() -> None:
    assert remove(ONE_ADMIN, "cay") == CAY
    assert remove({"cay": CAY}, "cay") == CAY


@pytest.mark.parametrize("role", ROLES)
def test_a_member_gets_any_role_and_keeps_everything_else(role: Role) -> None:
    assert change_role(ONE_ADMIN, "cay", role, "admin") == Member(
        "cay", "cay@acme.example", role, 3
    )


def test_nobody_grants_a_role_above_their_own() -> None:
    assert change_role(TWO_ADMINS, "cay", "admin", "developer") == refuse("role_forbidden")
    assert change_role(TWO_ADMINS, "cay", "developer", "viewer") == refuse("role_forbidden")
    assert change_role(TWO_ADMINS, "nobody", "admin", "developer") == refuse("role_forbidden")


@pytest.mark.parametrize("uid", ["nobody", "", "ADA"])
def test_somebody_who_is_not_a_member_is_not_found(uid: str) -> None:
    assert change_role(TWO_ADMINS, uid, "viewer", "admin") == refuse("member_not_found")
    assert remove(TWO_ADMINS, uid) == refuse("member_not_found")


CHANGES = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", "d"]), st.sampled_from([*ROLES, None])), max_size=30
)


@given(st.lists(st.sampled_from(ROLES), min_size=3, max_size=3), CHANGES)
def test_no_order_of_changes_leaves_an_account_without_an_admin(
    roles: list[Role], changes: list[tuple[str, Role | None]]
) -> None:
    members = {
        uid: Member(uid, f"{uid}@acme.example", role, 1)
        for uid, role in zip(itertools.chain("abcd"), ("admin", *roles), strict=True)
    }
    for uid, role in changes:
        after = remove(members, uid) if role is None else change_role(members, uid, role, "admin")
        if isinstance(after, Member):
            members = {other: member for other, member in members.items() if other != uid}
            if role is not None:
                members[uid] = after
        assert any(member.role == "admin" for member in members.values())


@pytest.mark.parametrize(
    "text",
    ["u", "auth0|5f7c8ec7c33c6c004bbafe82", "\u00e5sa", "a b/c%2F?#", "platform2", "x" * UID_MAX],
)
def test_any_subject_of_an_issuer_can_be_a_uid(text: str) -> None:
    assert is_uid(text)


@pytest.mark.parametrize(
    "text", ["", "x" * (UID_MAX + 1), "a\x00b", "a\ud800", "\udfff", "platform"]
)
def test_unstorable_texts_and_the_platforms_own_name_are_not_uids(text: str) -> None:
    assert not is_uid(text)


def test_members_are_always_in_the_order_in_which_they_joined() -> None:
    late, early = (
        msgspec.structs.replace(ADA, joined_at=9),
        msgspec.structs.replace(ADA, uid="aaa", joined_at=2),
    )
    for members in itertools.permutations((late, early, BOB, CAY)):
        assert list(in_order(members).items()) == [
            ("aaa", early),
            ("bob", BOB),
            ("cay", CAY),
            ("ada", late),
        ]
