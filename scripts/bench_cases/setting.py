"""What every case of the benchmark begins with: a folder with partners, and how long it runs."""

from dataclasses import dataclass
from pathlib import Path

import trio
from seed import FLOOR_USD_CENTS, seed, write_keys

from pgs.operator.ready import ReadyPartner

GAME, TIER, STAKE = "tic-tac-toe", "test-bronze", FLOOR_USD_CENTS


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
