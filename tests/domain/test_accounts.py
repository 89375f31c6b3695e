import random

import msgspec
import pytest

from pgs.domain.accounts import Account, ApiKey, Licence, check_licence, in_order
from pgs.domain.environments import Environment
from pgs.domain.errors import Refusal, refuse
from pgs.domain.keys import hash_key
from tests import making

INSTALLED = frozenset({"reversi", "tic-tac-toe"})
NOWHERE = refuse("game_not_licensed")
ELSEWHERE = refuse("game_not_licensed_in_this_environment")


def account(**licences: Licence) -> Account:
    return making.account(licences=licences)


def test_a_scheduled_key_is_revoked_from_its_set_second_on() -> None:
    key = ApiKey("key_1", "test", "build", hash_key("x"), "aaaa", 1)
    scheduled = msgspec.structs.replace(key, revokes_at=100)
    assert [key.status(now) for now in (0, 10**10)] == ["active", "active"]
    assert [scheduled.status(now) for now in (0, 99, 100, 101)] == [
        "scheduled",
        "scheduled",
        "revoked",
        "revoked",
    ]
    assert [scheduled.is_revoked(now) for now in (99, 100)] == [False, True]


@pytest.mark.parametrize(
    ("licence", "test", "live"),
    [
        (Licence(), NOWHERE, NOWHERE),
        (Licence(True), None, ELSEWHERE),
        (Licence(True, "requested"), None, ELSEWHERE),
        (Licence(True, "denied"), None, ELSEWHERE),
        (Licence(True, "withdrawn"), None, ELSEWHERE),
        (Licence(True, "granted"), None, None),
        (Licence(False, "granted"), ELSEWHERE, None),
        (Licence(False, "withdrawn"), NOWHERE, NOWHERE),
    ],
)
def test_a_game_can_be_launched_where_it_is_licensed(
    licence: Licence, test: Refusal | None, live: Refusal | None
) -> None:
    verdicts: list[tuple[Environment, Refusal | None]] = [("test", test), ("live", live)]
    for environment, verdict in verdicts:
        assert check_licence(account(reversi=licence), environment, "reversi", INSTALLED) == verdict
        assert (verdict is None) == (
            "reversi" in account(reversi=licence).licensed_games(environment)
        )


def test_a_game_unknown_or_not_installed_is_licensed_nowhere() -> None:
    held = account(chess=Licence(True, "granted"))
    assert check_licence(held, "test", "chess", INSTALLED) == NOWHERE
    assert check_licence(held, "test", "ludo", INSTALLED) == NOWHERE


def test_keys_are_always_in_the_same_order() -> None:
    keys = [
        ApiKey(f"key_{name}", "test", "k", name, "aaaa", at)
        for name, at in (("c", 1), ("a", 2), ("b", 2), ("z", 2), ("d", 9))
    ]
    shuffled = keys.copy()
    random.Random(5).shuffle(shuffled)
    assert shuffled != keys
    assert in_order(shuffled) == tuple(keys)
