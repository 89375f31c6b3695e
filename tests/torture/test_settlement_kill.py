"""Money torture on a small scale; `scripts/torture_settlement.py` runs it on a large one.

`TORTURE_SEATS` sets the number of seats, `TORTURE_PENDING_S` for how long a charge or payout may be
pending.
"""

import os
from pathlib import Path

import pytest

from tests.torture.money import Scale, torture

pytestmark = pytest.mark.torture

SCALE = Scale(
    seats=int(os.environ.get("TORTURE_SEATS", "1500")),
    pending_s=int(os.environ.get("TORTURE_PENDING_S", "20")),
)


async def test_every_seat_is_settled_once_whatever_the_server_does_and_whichever_is_killed(
    tmp_path: Path,
) -> None:
    print(await torture(tmp_path, SCALE, print))
