"""The history that benchmarks write looks like that of real seats."""

import sys
from pathlib import Path

from pgs.storage.sqlite.database import SqliteDatabase
from tests.beside import open_beside
from tests.conventions.tree import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

from billing_bench.history import write_history


def test_keys_and_ids_are_so_long_that_very_many_seats_all_differ(tmp_path: Path) -> None:
    SqliteDatabase(tmp_path).close()
    write_history(tmp_path, "acme", 19_000, 1, 1, lambda _: None)
    connection = open_beside(tmp_path / "pgs.db")
    seats = connection.execute("select idempotency_key, seat_id from seat").fetchall()
    connection.close()
    assert len(seats) == 2
    for key, seat_id in seats:
        # 64 random bits or more: ten million seats then all differ.
        assert len(str(key)) >= len("k-") + 16
        assert len(str(seat_id)) >= len("sea_") + 12 + 16
