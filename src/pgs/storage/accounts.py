"""Accounts in rows."""

from collections.abc import Iterable
from typing import Any

from pgs.domain.accounts import Account, ApiKey, Licence, in_order
from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.tiers import Price
from pgs.storage.members import by_account
from pgs.storage.reader import Reader, at_one_moment
from pgs.storage.transactions import Stmt


@at_one_moment
def read_accounts(reader: Reader) -> dict[str, Account]:
    """Return every account by its id."""
    return _assemble(
        reader.all("accounts.partners"),
        reader.all("accounts.keys"),
        reader.all("accounts.licences"),
        reader.all("accounts.origins"),
        reader.all("accounts.prices"),
        reader.all("webhooks.switched_on"),
        reader.all("members.members"),
    )


@at_one_moment
def read_account(reader: Reader, partner_id: str) -> Account | None:
    """Return one account."""
    row = reader.one("accounts.find_partner", partner_id=partner_id)
    if row is None:
        return None
    return _assemble(
        [row],
        reader.all("accounts.keys_of", partner_id=partner_id),
        reader.all("accounts.licences_of", partner_id=partner_id),
        reader.all("accounts.origins_of", partner_id=partner_id),
        reader.all("accounts.prices_of", partner_id=partner_id),
        reader.all("webhooks.switched_on_of", partner_id=partner_id),
        reader.all("members.members_of", partner_id=partner_id),
    )[partner_id]


def _assemble(
    partners: Iterable[tuple[Any, ...]],
    keys: Iterable[tuple[Any, ...]],
    licences: Iterable[tuple[Any, ...]],
    origins: Iterable[tuple[Any, ...]],
    prices: Iterable[tuple[Any, ...]],
    webhooks_on: Iterable[tuple[Any, ...]],
    members: Iterable[tuple[Any, ...]],
) -> dict[str, Account]:
    keys_of: dict[str, list[ApiKey]] = {}
    for partner_id, *key in keys:
        keys_of.setdefault(partner_id, []).append(ApiKey(*key))
    licences_of: dict[str, dict[str, Licence]] = {}
    for partner_id, game_id, test, live, note in licences:
        licences_of.setdefault(partner_id, {})[game_id] = Licence(bool(test), live, note)
    origins_of: dict[tuple[str, Environment], list[str]] = {}
    for partner_id, environment, origin in origins:
        origins_of.setdefault((partner_id, environment), []).append(origin)
    prices_of: dict[tuple[str, Environment], dict[str, Price]] = {}
    for partner_id, environment, tier_id, tier_revision, entry in prices:
        prices_of.setdefault((partner_id, environment), {})[tier_id] = Price(tier_revision, entry)
    webhook_on: dict[str, set[Environment]] = {}
    for partner_id, environment in webhooks_on:
        webhook_on.setdefault(partner_id, set()).add(environment)
    members_of = by_account(members)
    accounts = {}
    for row in partners:
        (
            partner_id,
            name,
            active,
            off_by,
            revision,
            burst,
            rate,
            pin_test,
            pin_live,
            gen_test,
            gen_live,
            domain,
            agreed,
            agreed_at,
            seq,
            at,
        ) = row
        accounts[partner_id] = Account(
            partner_id=partner_id,
            name=name,
            active=bool(active),
            switched_off_by=off_by,
            revision=revision,
            burst=burst,
            rate=rate,
            pins={"test": pin_test, "live": pin_live},
            generations={"test": gen_test, "live": gen_live},
            admin_domain=domain,
            agreed_terms_version=agreed,
            agreed_terms_at=agreed_at,
            event_seq=seq,
            created_at=at,
            keys=in_order(keys_of.get(partner_id, ())),
            licences=licences_of.get(partner_id, {}),
            origins={
                environment: tuple(sorted(origins_of.get((partner_id, environment), ())))
                for environment in ENVIRONMENTS
            },
            prices={
                environment: prices_of.get((partner_id, environment), {})
                for environment in ENVIRONMENTS
            },
            webhook_on=frozenset(webhook_on.get(partner_id, ())),
            members=members_of.get(partner_id, {}),
        )
    return accounts


def _columns(account: Account) -> dict[str, Any]:
    return {
        "partner_id": account.partner_id,
        "name": account.name,
        "active": int(account.active),
        "switched_off_by": account.switched_off_by,
        "revision": account.revision,
        "burst": account.burst,
        "rate": account.rate,
        "pin_test": account.pins["test"],
        "pin_live": account.pins["live"],
        "generation_test": account.generations["test"],
        "generation_live": account.generations["live"],
        "admin_domain": account.admin_domain,
        "agreed_terms_version": account.agreed_terms_version,
        "agreed_terms_at": account.agreed_terms_at,
        "event_seq": account.event_seq,
    }


def insert_partner(account: Account) -> Stmt:
    """Return the statement that adds an account; a second one of its id conflicts."""
    return Stmt(
        "accounts.insert_partner", _columns(account) | {"created_at": account.created_at}, 1
    )


def update_partner(was: Account, account: Account) -> Stmt:
    """Return the statement that writes an account's own row; it conflicts when the account has changed meanwhile."""
    return Stmt("accounts.update_partner", _columns(account) | {"was_revision": was.revision}, 1)


def insert_key(partner_id: str, key: ApiKey) -> tuple[Stmt, Stmt]:
    """Return the statements that add a key's record and its entry in the index of all keys."""
    return (
        Stmt(
            "accounts.insert_key",
            {
                "partner_id": partner_id,
                "key_id": key.key_id,
                "environment": key.environment,
                "label": key.label,
                "key_hash": key.key_hash,
                "last4": key.last4,
                "created_at": key.created_at,
                "revokes_at": key.revokes_at,
            },
            1,
        ),
        Stmt(
            "accounts.insert_key_index",
            {"key_hash": key.key_hash, "partner_id": partner_id, "key_id": key.key_id},
            1,
        ),
    )


def schedule_revocation(partner_id: str, key_id: str, revokes_at: int) -> Stmt:
    """Return the statement that sets when a key ceases to authenticate."""
    return Stmt(
        "accounts.schedule_revocation",
        {"partner_id": partner_id, "key_id": key_id, "revokes_at": revokes_at},
        1,
    )


def put_licence(partner_id: str, game_id: str, licence: Licence) -> Stmt:
    """Return the statement that writes what a partner may do with a game."""
    params: dict[str, Any] = {
        "partner_id": partner_id,
        "game_id": game_id,
        "test": int(licence.test),
        "live": licence.live,
        "note": licence.note,
    }
    return Stmt("accounts.put_licence", params, 1)


def insert_origin(partner_id: str, environment: Environment, origin: str, at: int) -> Stmt:
    """Return the statement that registers an origin."""
    return Stmt(
        "accounts.insert_origin",
        {"partner_id": partner_id, "environment": environment, "origin": origin, "added_at": at},
        1,
    )


def delete_origin(partner_id: str, environment: Environment, origin: str) -> Stmt:
    """Return the statement that removes an origin."""
    return Stmt(
        "accounts.delete_origin",
        {"partner_id": partner_id, "environment": environment, "origin": origin},
        1,
    )


def replace_prices(
    partner_id: str, environment: Environment, prices: dict[str, Price]
) -> tuple[Stmt, ...]:
    """Return the statements that replace a partner's whole price map of an environment."""
    return (
        Stmt("accounts.delete_prices", {"partner_id": partner_id, "environment": environment}),
        *(
            Stmt(
                "accounts.insert_price",
                {
                    "partner_id": partner_id,
                    "environment": environment,
                    "tier_id": tier_id,
                    "tier_revision": price.tier_revision,
                    "entry_usd_cents": price.entry_usd_cents,
                },
                1,
            )
            for tier_id, price in sorted(prices.items())
        ),
    )


def switched_off_with_open_play(reader: Reader) -> list[tuple[str, Environment]]:
    """Return the partners and environments whose account is off while seats or matches of theirs are still open."""
    rows = reader.all("accounts.switched_off_with_open_seats") + reader.all(
        "accounts.switched_off_with_running_matches"
    )
    return sorted({(row[0], row[1]) for row in rows})
