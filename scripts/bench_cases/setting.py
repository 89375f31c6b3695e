"""What the cases of the benchmark share: a folder with partners, the size of a run, and seats."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import trio
from bench_cases.caller import post
from seed import FLOOR_USD_CENTS, seed, write_keys

from pgs.operator.ready_partners import ReadyPartner

GAME, TIER, STAKE = "tic-tac-toe", "test-bronze", FLOOR_USD_CENTS


class Failed(Exception):
    """A server answered wrongly; the message says how."""


@dataclass(frozen=True)
class Setting:
    """A data folder with its partners, and the size of the runs.

    `rounds`: how often the servers take their turn. `calls`: calls of each server in a round.
    """

    folder: Path
    keys: Path
    partners: list[ReadyPartner]
    rounds: int
    calls: int
    connections: int = 32


def prepare(folder: Path, partners: int, rounds: int, calls: int) -> Setting:
    """Make the data folder of a case below `folder`."""
    made = trio.run(seed, folder / "data", partners)
    keys = folder / "keys.json"
    write_keys(keys, made)
    return Setting(folder, keys, made, rounds, calls)


def seats(
    address: tuple[str, int], partners: Sequence[ReadyPartner], count: int, run: str
) -> Iterator[bytes]:
    """Return calls that take test seats, for each partner in turn.

    `run`: a text that no other run has, so that its players and idempotency keys are new.
    """
    for number, partner in zip(range(count), itertools.cycle(partners)):
        body = {
            "playerId": f"p{run}-{number}",
            "gameId": GAME,
            "tierId": TIER,
            "stakeUsdCents": STAKE,
            "idempotencyKey": f"k{run}-{number}",
        }
        yield post(address, "/partner/matches", msgspec.json.encode(body), partner.test_key)
