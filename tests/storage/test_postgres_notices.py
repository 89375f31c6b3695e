"""Notices of changes: who hears of what, and what a lost connection costs."""

import msgspec
import psycopg
import pytest
import trio

from pgs.actors.shared.published_catalogue import PublishedCatalogue
from pgs.actors.shared.registry import Registry
from pgs.domain.accounts import Account, Licence
from pgs.domain.environments import ENVIRONMENTS
from pgs.storage.accounts import insert_partner, put_licence, update_partner
from pgs.storage.postgres import notices as notices_module
from pgs.storage.postgres.connecting import connect
from pgs.storage.postgres.database import PostgresDatabase
from pgs.storage.postgres.notices import AGAIN_S, LOOK_S, Notices
from pgs.storage.terms import insert_terms
from pgs.storage.transactions import Outcome, StoreOutage
from tests.patience import PATIENCE_S
from tests.storage.writing import lock, submit_all, tx_of

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

QUIET_S = 0.3
"""Seconds in which a notice would long have come."""

ACME = Account(
    partner_id="acme",
    name="acme",
    active=True,
    switched_off_by=None,
    revision=1,
    burst=None,
    rate=None,
    pins=dict.fromkeys(ENVIRONMENTS, 1),
    generations=dict.fromkeys(ENVIRONMENTS, 0),
    admin_domain=None,
    agreed_terms_version=None,
    agreed_terms_at=None,
    event_seq=1,
    created_at=0,
    keys=(),
    licences={},
    origins=dict.fromkeys(ENVIRONMENTS, ()),
    prices={name: {} for name in ENVIRONMENTS},
)


async def listening(url: str) -> Notices:
    """Return what another node hears, once it hears, and without the notice of its beginning."""
    heard = Notices(lambda: connect(url, "another node listens"), "another node")
    heard.start()
    with trio.fail_after(PATIENCE_S):
        await heard.heard.wait()
    await heard.wait()
    return heard


async def test_changes_of_accounts_tiers_and_terms_are_heard_and_nothing_else(
    on_postgres: PostgresDatabase, url: str
) -> None:
    on_postgres.start()
    heard = await listening(url)
    later = msgspec.structs.replace(ACME, revision=2, event_seq=2)
    for stmt in (
        insert_partner(ACME),
        update_partner(ACME, later),
        lock("go"),
        insert_terms(2, "x", 0),
    ):
        assert await submit_all(on_postgres, tx_of(stmt)) == [Outcome.COMMITTED]
        with trio.fail_after(PATIENCE_S):
            await heard.wait()
    licence = put_licence("acme", "go", Licence(test=True))
    assert await submit_all(on_postgres, tx_of(licence)) == [Outcome.COMMITTED]
    with trio.move_on_after(QUIET_S) as quiet:
        await heard.wait()
    assert quiet.cancelled_caught
    heard.close()


async def test_a_change_that_fails_is_not_told(on_postgres: PostgresDatabase, url: str) -> None:
    on_postgres.start()
    heard = await listening(url)
    stale = update_partner(ACME, msgspec.structs.replace(ACME, revision=2))
    assert await submit_all(on_postgres, tx_of(stale)) == [Outcome.CONFLICT]
    with trio.move_on_after(QUIET_S) as quiet:
        await heard.wait()
    assert quiet.cancelled_caught
    heard.close()


async def test_own_changes_are_not_heard_and_a_look_is_due_all_the_same(
    on_postgres: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_postgres.start()
    await on_postgres.wait_for_changes()  # the beginning counts as a notice
    monkeypatch.setattr("pgs.storage.postgres.database.LOOK_S", 4 * QUIET_S)
    began = trio.current_time()
    assert await submit_all(on_postgres, tx_of(insert_partner(ACME))) == [Outcome.COMMITTED]
    await on_postgres.wait_for_changes()
    assert trio.current_time() - began >= 4 * QUIET_S
    assert LOOK_S == 2.0  # the interval that the documents promise


async def test_a_connection_that_ends_is_opened_again_and_counts_as_a_notice(
    on_postgres: PostgresDatabase,
    url: str,
    operator: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert AGAIN_S <= 2.0
    monkeypatch.setattr(notices_module, "AGAIN_S", 0.05)
    on_postgres.start()
    heard = await listening(url)
    operator.execute(
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity "
        "where application_name like '%listens'"
    )
    with trio.fail_after(PATIENCE_S):
        await heard.wait()
    assert await submit_all(on_postgres, tx_of(lock("go"))) == [Outcome.COMMITTED]
    with trio.fail_after(PATIENCE_S):
        await heard.wait()
    heard.close()


async def test_a_server_that_cannot_be_reached_is_tried_until_it_can(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices_module, "AGAIN_S", 0.01)
    tries = 0

    def try_to_connect() -> object:
        nonlocal tries
        tries += 1
        if tries < 4:
            raise StoreOutage("nobody there")
        return connect(url, "another node listens")

    # The type of libpq's object does not matter here.
    heard = Notices(try_to_connect, "another node")  # type: ignore[arg-type]
    heard.start()
    with trio.fail_after(PATIENCE_S):
        await heard.wait()
    heard.close()
    assert tries == 4


async def test_two_registries_on_one_database_show_the_same(
    on_postgres: PostgresDatabase, url: str
) -> None:
    """The second one only reads; each change reaches it by a notice, long before a look is due."""
    on_postgres.start()
    first = Registry(on_postgres, lambda _: None)
    second = Registry(on_postgres, lambda _: None)
    catalogue = PublishedCatalogue(on_postgres)
    await catalogue.refresh()
    heard = await listening(url)
    account = ACME
    for number in range(20):
        if number:
            was, account = (
                account,
                msgspec.structs.replace(
                    account, burst=number, revision=number + 1, event_seq=number + 1
                ),
            )
            stmt = update_partner(was, account)
        else:
            stmt = insert_partner(account)
        assert await submit_all(on_postgres, tx_of(stmt)) == [Outcome.COMMITTED]
        first.publish(account)
        with trio.fail_after(PATIENCE_S):
            await heard.wait()
        await second.follow()
        assert second.accounts() == first.accounts() == [account]
    assert await submit_all(on_postgres, tx_of(insert_terms(2, "x", 0))) == [Outcome.COMMITTED]
    with trio.fail_after(PATIENCE_S):
        await heard.wait()
    await catalogue.refresh()
    assert (await catalogue.current()).offered_terms_version == 2
    heard.close()
