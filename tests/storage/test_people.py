"""Members, invites, authenticators, events, stops and key uses are stored and read back."""

import pytest

from pgs.domain.factors import Factor, Window
from pgs.domain.invites import INVITE_S, Invite
from pgs.domain.members import Member
from pgs.storage import accounts, emergency_stops, events, factors, invites, key_uses, members
from pgs.storage.columns import NEWEST
from pgs.storage.database import Database
from pgs.storage.transactions import Outcome, Stmt, Tx
from tests.making import account
from tests.virtual import START

ADA = Member("ada", "ada@acme.example", "admin", 5)
BEN = Member("ben", "ben@acme.example", "viewer", 4)
INVITE = Invite("ivt_1", "ada@acme.example", "admin", START, START + INVITE_S)
FULL = Factor("sealed", 7, 2, 99, (Window("a", 49), Window("b", 50)), "pending", 3)


async def commit(database: Database, *stmts: Stmt) -> Outcome:
    return await database.writer.submit(Tx("acme", stmts))


async def test_members_are_read_with_their_account_in_the_order_of_joining(
    database: Database,
) -> None:
    await commit(
        database,
        accounts.insert_partner(account()),
        accounts.insert_partner(account("other")),
        *members.insert_member("acme", ADA),
        *members.insert_member("acme", BEN),
    )
    read = await accounts.read_account(database.reader, "acme")
    assert read is not None
    assert list(read.members.items()) == [("ben", BEN), ("ada", ADA)]
    assert await accounts.read_accounts(database.reader) == {
        "acme": read,
        "other": account("other"),
    }
    assert await members.find_account_of(database.reader, "ada") == "acme"
    assert await members.find_account_of(database.reader, "nobody") is None


async def test_a_uid_can_be_a_member_of_one_account_only(database: Database) -> None:
    await commit(database, *members.insert_member("acme", ADA))
    assert await commit(database, *members.insert_member("acme", ADA)) is Outcome.CONFLICT
    assert await commit(database, *members.insert_member("other", ADA)) is Outcome.CONFLICT
    assert await members.find_account_of(database.reader, "ada") == "acme"


async def test_a_removed_member_leaves_nothing_behind(database: Database) -> None:
    await commit(
        database, *members.insert_member("acme", ADA), factors.put_factor("acme", "ada", FULL)
    )
    await commit(
        database, *members.insert_member("acme", BEN), factors.put_factor("acme", "ben", FULL)
    )
    assert await commit(database, *members.delete_member("acme", "ada")) is Outcome.COMMITTED
    assert await commit(database, *members.delete_member("acme", "ada")) is Outcome.CONFLICT
    assert await factors.find_factor(database.reader, "acme", "ada") == Factor()
    assert await factors.find_factor(database.reader, "acme", "ben") == FULL
    assert await commit(database, *members.insert_member("other", ADA)) is Outcome.COMMITTED
    assert await commit(database, *members.delete_member("acme", "ada")) is Outcome.CONFLICT


async def test_setting_a_role_changes_only_that_member(database: Database) -> None:
    await commit(
        database,
        accounts.insert_partner(account()),
        *members.insert_member("acme", ADA),
        *members.insert_member("acme", BEN),
    )
    assert await commit(database, members.set_role("acme", "ada", "developer")) is Outcome.COMMITTED
    read = await accounts.read_account(database.reader, "acme")
    assert read is not None
    assert {uid: member.role for uid, member in read.members.items()} == {
        "ada": "developer",
        "ben": "viewer",
    }
    assert await commit(database, members.set_role("other", "ada", "viewer")) is Outcome.CONFLICT


async def test_an_accepted_invite_is_not_accepted_or_revoked_again(database: Database) -> None:
    await commit(database, *invites.insert_invite("acme", 3, INVITE))
    assert await invites.find_invite(database.reader, "acme", "ivt_1") == INVITE
    assert await invites.find_invite(database.reader, "other", "ivt_1") is None
    assert await invites.find_account_of(database.reader, "ivt_1") == "acme"
    assert (
        await commit(database, invites.accept_invite("acme", "ivt_1", "ada")) is Outcome.COMMITTED
    )
    assert await commit(database, invites.accept_invite("acme", "ivt_1", "ben")) is Outcome.CONFLICT
    assert await commit(database, invites.revoke_invite("acme", "ivt_1", START)) is Outcome.CONFLICT
    read = await invites.find_invite(database.reader, "acme", "ivt_1")
    assert read is not None
    assert (read.accepted_by, read.revoked_at) == ("ada", None)


async def test_a_revoked_invite_is_not_accepted(database: Database) -> None:
    await commit(database, *invites.insert_invite("acme", 3, INVITE))
    assert (
        await commit(database, invites.revoke_invite("acme", "ivt_1", START + 1))
        is Outcome.COMMITTED
    )
    assert await commit(database, invites.accept_invite("acme", "ivt_1", "ada")) is Outcome.CONFLICT
    assert await commit(database, *invites.insert_invite("other", 1, INVITE)) is Outcome.CONFLICT


async def test_only_an_account_s_own_authenticators_in_force_are_listed(database: Database) -> None:
    for partner_id, uid, factor in (
        ("acme", "ada", FULL),
        ("acme", "ben", Factor()),
        ("acme", "cal", Factor(pending_sealed_secret="pending")),
        ("other", "dan", FULL),
    ):
        await commit(database, factors.put_factor(partner_id, uid, factor))
    assert await factors.list_enrolled(database.reader, "acme") == {"ada"}


@pytest.mark.parametrize("factor", [Factor(), FULL, Factor(wrong_codes=4)])
async def test_an_authenticator_is_read_as_it_was_written(
    factor: Factor, database: Database
) -> None:
    await commit(
        database, factors.put_factor("acme", "ada", FULL), factors.put_factor("acme", "ada", factor)
    )
    assert await factors.find_factor(database.reader, "acme", "ada") == factor
    assert await factors.find_factor(database.reader, "other", "ada") == Factor()


def _event(seq: int) -> events.Event:
    return events.Event(seq, f"evt_{seq}", START + seq, "ada", "key.created", '{"keyId":"key_1"}')


async def test_the_event_log_is_read_in_pages_newest_first(database: Database) -> None:
    await commit(
        database,
        *(events.insert_event("acme", _event(seq)) for seq in (1, 2, 3, 4)),
        events.insert_event("other", _event(9)),
    )
    assert await events.events_page(database.reader, "acme", NEWEST, 2, with_invites=True) == [
        _event(4),
        _event(3),
    ]
    assert await events.events_page(database.reader, "acme", 3, 5, with_invites=True) == [
        _event(2),
        _event(1),
    ]
    assert await events.events_page(database.reader, "acme", 1, 5, with_invites=True) == []
    assert await commit(database, events.insert_event("acme", _event(4))) is Outcome.CONFLICT


async def test_the_mark_of_a_stop_is_deleted_only_by_finishing_that_stop(
    database: Database,
) -> None:
    await commit(
        database,
        emergency_stops.put_stop("acme", "test", 1, START),
        emergency_stops.put_stop("acme", "live", 5, START),
    )
    await commit(database, emergency_stops.put_stop("acme", "test", 2, START))
    await commit(database, emergency_stops.delete_stop("acme", "test", 1))
    assert await emergency_stops.unfinished_stops(database.reader) == [
        ("acme", "live", 5),
        ("acme", "test", 2),
    ]
    await commit(database, emergency_stops.delete_stop("acme", "test", 2))
    assert await emergency_stops.find_stop(database.reader, "acme", "test") is None
    assert await emergency_stops.find_stop(database.reader, "acme", "live") == 5


async def test_the_last_use_of_a_key_replaces_the_earlier_one(database: Database) -> None:
    await commit(
        database, key_uses.put_key_use("acme", "key_1", 1), key_uses.put_key_use("acme", "key_1", 2)
    )
    await commit(database, key_uses.put_key_use("other", "key_2", 3))
    assert await key_uses.key_uses_of(database.reader, "acme") == {"key_1": 2}
