"""Reads accounts, and builds the statements that write them."""

from collections.abc import Callable, Iterable
from typing import Any

from pgs.domain.accounts import Account, ApiKey, Licence, in_order
from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.members import Member
from pgs.domain.tiers import Price
from pgs.storage.columns import COLUMNS
from pgs.storage.reader import Query, Reader, Row
from pgs.storage.transactions import Stmt

_SAME_NAMED = tuple(name for name in COLUMNS["partner"] if name in Account.__struct_fields__)
"""The columns that are fields of `Account` under the same name."""

_PARTS = (
    "accounts.keys",
    "accounts.licences",
    "accounts.origins",
    "accounts.prices",
    "webhooks.switched_on",
    "members.members",
)
"""The queries for the parts of all accounts. Each has a variant `..._of` for one account."""


async def read_accounts(reader: Reader) -> dict[str, Account]:
    """Return every account by its id, all as of the same moment."""
    partners, *parts = await reader.together(
        Query("accounts.partners"), *(Query(name) for name in _PARTS)
    )
    grouped = [_by_account(rows) for rows in parts]
    return {
        row[0]: _account(row, *(rows_of.get(row[0], []) for rows_of in grouped)) for row in partners
    }


async def read_account(reader: Reader, partner_id: str) -> Account | None:
    """Return one account, all of it as of the same moment; or None."""
    one: dict[str, Any] = {"partner_id": partner_id}
    partners, *parts = await reader.together(
        Query("accounts.find_partner", one), *(Query(f"{name}_of", one) for name in _PARTS)
    )
    if not partners:
        return None
    return _account(partners[0], *([row[1:] for row in rows] for rows in parts))


async def count_changes(reader: Reader) -> int:
    """Return a number that rises with each change of an account and never falls."""
    row = await reader.one("accounts.changes")
    return row[0] if row else 0


async def read_newer(reader: Reader, known: Callable[[str], Account | None]) -> list[Account]:
    """Return the accounts whose rows are newer than the account that `known` returns for their id.

    `known` returns None for an id that the caller does not know yet. Each account is read as of one
    moment.
    """
    newer: list[Account] = []
    for partner_id, *version in await reader.all("accounts.versions"):
        account = known(partner_id)
        if account is None or account.version < tuple(version):
            read = await read_account(reader, partner_id)
            newer += [] if read is None else [read]
    return newer


def _by_account(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return rows by their first column, the account's id. The rows returned lack that column."""
    rows_of: dict[str, list[Row]] = {}
    for partner_id, *rest in rows:
        rows_of.setdefault(partner_id, []).append(tuple(rest))
    return rows_of


def _account(
    row: Row,
    keys: list[Row],
    licences: list[Row],
    origins: list[Row],
    prices: list[Row],
    webhooks_on: list[Row],
    members: list[Row],
) -> Account:
    columns = dict(zip(COLUMNS["partner"], row, strict=True))
    fields: dict[str, Any] = {name: columns[name] for name in _SAME_NAMED}
    return Account(
        **fields
        | {
            "active": bool(columns["active"]),
            "pins": {name: columns[f"pin_{name}"] for name in ENVIRONMENTS},
            "generations": {name: columns[f"generation_{name}"] for name in ENVIRONMENTS},
            "keys": in_order(ApiKey(*key) for key in keys),
            "licences": {game: Licence(bool(test), *rest) for game, test, *rest in licences},
            "origins": {
                name: tuple(sorted(origin for of, origin in origins if of == name))
                for name in ENVIRONMENTS
            },
            "prices": {
                name: {tier_id: Price(*price) for of, tier_id, *price in prices if of == name}
                for name in ENVIRONMENTS
            },
            "webhook_on": frozenset(environment for (environment,) in webhooks_on),
            "members": {member[0]: Member(*member) for member in members},
        }
    )


def _columns(account: Account) -> dict[str, Any]:
    columns: dict[str, Any] = {name: getattr(account, name) for name in _SAME_NAMED}
    columns["active"] = int(account.active)
    for name in ENVIRONMENTS:
        columns[f"pin_{name}"] = account.pins[name]
        columns[f"generation_{name}"] = account.generations[name]
    return columns


def insert_partner(account: Account) -> Stmt:
    """Return the statement that adds an account; a second one with its id conflicts."""
    return Stmt("accounts.insert_partner", _columns(account), 1)


def update_partner(was: Account, account: Account) -> Stmt:
    """Return the statement that updates an account's own row.

    It conflicts if the account's revision has changed since `was`.
    """
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
                "created_by": key.created_by,
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
    """Return the statement that sets when a key stops working."""
    return Stmt(
        "accounts.schedule_revocation",
        {"partner_id": partner_id, "key_id": key_id, "revokes_at": revokes_at},
        1,
    )


def put_licence(partner_id: str, game_id: str, licence: Licence) -> Stmt:
    """Return the statement that writes a partner's licence for a game."""
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


async def switched_off_with_open_play(reader: Reader) -> list[tuple[str, Environment]]:
    """Return partners and environments that have open play although the account is off.

    Seats that are already being closed do not count.
    """
    rows = await reader.all("accounts.switched_off_with_open_seats") + await reader.all(
        "accounts.switched_off_with_running_matches"
    )
    return sorted({(row[0], row[1]) for row in rows})


async def count_open_play(reader: Reader, partner_id: str) -> dict[Environment, tuple[int, int]]:
    """Return how many seats wait and how many matches run in each environment."""
    one: dict[str, Any] = {"partner_id": partner_id}
    seats, matches = await reader.together(
        Query("accounts.open_seats", one), Query("accounts.open_matches", one)
    )
    waiting, running = dict(tuple(row) for row in seats), dict(tuple(row) for row in matches)
    return {name: (waiting.get(name, 0), running.get(name, 0)) for name in ENVIRONMENTS}
