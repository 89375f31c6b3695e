"""Accounts are stored in rows and read back."""

import pytest

from pgs.domain.accounts import Account, ApiKey, Licence
from pgs.domain.tiers import Price
from pgs.storage import accounts as rows
from pgs.storage import seats
from pgs.storage.database import Database
from pgs.storage.transactions import Outcome, Stmt, Tx
from tests.making import account, match, seat

FULL = account(
    active=False,
    switched_off_by="ada",
    burst=5,
    rate=6,
    admin_domain="acme.example",
    agreed_terms_version=7,
    agreed_terms_at=8,
    keys=(
        ApiKey("key_1", "test", "one", "hash1", "aaaa", 1),
        ApiKey("key_2", "live", "two", "hash2", "bbbb", 2, 99, "ada"),
    ),
    licences={"chess": Licence(False, "granted", "why"), "reversi": Licence(True)},
    origins={"test": ("http://localhost:1",), "live": ("https://a.example", "https://b.example")},
    prices={"test": {}, "live": {"gold": Price(2, 150), "bronze": Price(1, 120)}},
)


def all_of(full: Account) -> list[Stmt]:
    stmts = [rows.insert_partner(full)]
    for key in full.keys:
        stmts += rows.insert_key(full.partner_id, key)
    stmts += [
        rows.put_licence(full.partner_id, game_id, licence)
        for game_id, licence in full.licences.items()
    ]
    for environment in ("test", "live"):
        stmts += [
            rows.insert_origin(full.partner_id, environment, origin, 5)
            for origin in reversed(full.origins[environment])
        ]
        stmts += rows.replace_prices(full.partner_id, environment, dict(full.prices[environment]))
    return stmts


async def commit(database: Database, *stmts: Stmt) -> Outcome:
    return await database.writer.submit(Tx("acme", stmts))


async def test_an_account_reads_back_as_written_alone_and_among_all_accounts(
    database: Database,
) -> None:
    plain = account("other")
    assert await commit(database, *all_of(FULL), rows.insert_partner(plain)) is Outcome.COMMITTED
    assert await rows.read_account(database.reader, "acme") == FULL
    assert await rows.read_accounts(database.reader) == {"acme": FULL, "other": plain}
    assert await rows.read_account(database.reader, "nobody") is None


async def test_an_update_writes_every_column_and_leaves_other_partners_alone(
    database: Database,
) -> None:
    await commit(database, rows.insert_partner(account()), rows.insert_partner(account("other")))
    after = account(
        name="Acme Games",
        active=False,
        switched_off_by="platform",
        revision=2,
        burst=1,
        rate=2,
        pins={"test": 5, "live": 6},
        generations={"test": 7, "live": 8},
        admin_domain="acme.example",
        agreed_terms_version=9,
        agreed_terms_at=10,
        event_seq=11,
    )
    assert await commit(database, rows.update_partner(account(), after)) is Outcome.COMMITTED
    assert await rows.read_accounts(database.reader) == {"acme": after, "other": account("other")}
    assert await commit(database, rows.update_partner(account(), after)) is Outcome.CONFLICT


async def test_an_account_that_exists_cannot_be_inserted_again(database: Database) -> None:
    await commit(database, rows.insert_partner(account()))
    assert await commit(database, rows.insert_partner(account(name="Impostor"))) is Outcome.CONFLICT
    assert await rows.read_account(database.reader, "acme") == account()


async def test_two_keys_cannot_have_the_same_hash(database: Database) -> None:
    await commit(database, *all_of(FULL), rows.insert_partner(account("other")))
    stolen = ApiKey("key_9", "test", "nine", "hash1", "aaaa", 1)
    assert await commit(database, *rows.insert_key("other", stolen)) is Outcome.CONFLICT
    assert await rows.read_account(database.reader, "other") == account("other")


async def test_a_revocation_changes_only_its_key(database: Database) -> None:
    await commit(database, *all_of(FULL))
    assert (
        await commit(database, rows.schedule_revocation("acme", "key_1", 77)) is Outcome.COMMITTED
    )
    read = await rows.read_account(database.reader, "acme")
    assert read is not None
    assert [key.revokes_at for key in read.keys] == [77, 99]
    assert await commit(database, rows.schedule_revocation("other", "key_1", 1)) is Outcome.CONFLICT


async def test_a_change_of_a_licence_origin_or_price_leaves_the_others_alone(
    database: Database,
) -> None:
    await commit(database, *all_of(FULL))
    await commit(
        database,
        rows.put_licence("acme", "chess", Licence(True, "withdrawn")),
        rows.delete_origin("acme", "live", "https://a.example"),
        *rows.replace_prices("acme", "live", {"bronze": Price(3, 130)}),
        *rows.replace_prices("acme", "test", {"bronze": Price(3, 140)}),
    )
    read = await rows.read_account(database.reader, "acme")
    assert read is not None
    assert read.licences == {"chess": Licence(True, "withdrawn"), "reversi": Licence(True)}
    assert read.origins == {"test": ("http://localhost:1",), "live": ("https://b.example",)}
    assert read.prices == {"live": {"bronze": Price(3, 130)}, "test": {"bronze": Price(3, 140)}}
    assert (
        await commit(database, rows.delete_origin("acme", "live", "https://a.example"))
        is Outcome.CONFLICT
    )
    assert (
        await commit(database, rows.insert_origin("acme", "live", "https://b.example", 9))
        is Outcome.CONFLICT
    )


@pytest.mark.parametrize(
    ("open_play", "found"),
    [
        (seats.insert_seat(seat(1)), True),
        (seats.insert_seat(seat(1, status="pending")), True),
        (seats.insert_seat(seat(1, status="pending", closing="account_inactive")), False),
        (seats.insert_seat(seat(1, status="declined")), False),
        (seats.insert_match(match("mat_1")), True),
        (seats.insert_match(match("mat_1", status="no_contest", money="due")), False),
    ],
)
async def test_open_play_of_an_account_that_is_off_is_found(
    open_play: Stmt, found: bool, database: Database
) -> None:
    await commit(database, rows.insert_partner(account()), open_play)
    assert await rows.switched_off_with_open_play(database.reader) == []
    await commit(database, rows.update_partner(account(), account(active=False)))
    assert await rows.switched_off_with_open_play(database.reader) == (
        [("acme", "test")] if found else []
    )
