"""Faults of files, disk and clock, each caused from outside, and how each must end."""

import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import apsw
from data_torture.service import Scene, Wrong, until

from pgs.storage.sqlite_driver import copy_all

TWO_DAYS_S = 2 * 86_400
_ROOT_PAGE = Path(__file__).parent / "root_page.sql"


def kill(s: Scene) -> str:
    """Kill the process."""
    s.kill()
    s.must_start()
    return s.nothing_lost()


def move_away(s: Scene) -> str:
    """Kill; start without pgs.db; move it back."""
    s.kill()
    (s.folder / "pgs.db").rename(s.place / "away")
    for _ in range(2):
        s.must_refuse("pgs.db is missing", "pgs db restore")
    (s.place / "away").rename(s.folder / "pgs.db")
    s.must_start()
    return "refused, then " + s.nothing_lost()


def unmounted(s: Scene) -> str:
    """Stop; start with an empty data folder, and the key ring outside it."""
    s.stop()
    ring = s.place / "ring"
    shutil.move(s.folder, s.place / "volume")
    shutil.copyfile(s.place / "volume" / "keys", ring)
    (s.place / "pgs.toml").write_text(f'[pgs]\nsecret_key_file = "{ring}"\n')
    told = s.pgs("db", "migrate", "--config", s.place / "pgs.toml")
    if told.returncode != 1 or "so this service is not new" not in told.stderr:
        raise Wrong(told.stderr or "it made a new database")
    shutil.rmtree(s.folder)
    shutil.move(s.place / "volume", s.folder)
    s.must_start()
    return "refused, then " + s.nothing_lost()


def _is_refused_while_running(s: Scene) -> None:
    until("readiness says that data is lost", lambda: "data lost" in s.ready()[1])
    status, told = s.seat("while-it-is-gone")
    if (status, told.get("reason")) != (503, "settlement_unavailable"):
        raise Wrong(f"a seat was answered {status} {told}")


def move_while_running(s: Scene) -> str:
    """Move pgs.db away while the service runs, and back."""
    (s.folder / "pgs.db").rename(s.place / "away")
    _is_refused_while_running(s)
    (s.place / "away").rename(s.folder / "pgs.db")
    until("the service is ready again", lambda: s.ready()[0] == 200)
    return "refused, then " + s.nothing_lost()


def delete_while_running(s: Scene) -> str:
    """Delete pgs.db while the service runs; restore the backup."""
    since = _backup(s)
    (s.folder / "pgs.db").unlink()
    _is_refused_while_running(s)
    if s.pgs("db", "backup", s.place / "of-nothing").returncode != 1:
        raise Wrong("a backup of a deleted file succeeded")
    s.stop()
    s.must_refuse("pgs.db is missing")
    _restore(s, s.place / "backup")
    return "refused, then " + s.nothing_lost(since=since)


def delete_log_while_running(s: Scene) -> str:
    """Delete pgs.db-wal while the service runs, and stop it."""
    (s.folder / "pgs.db-wal").unlink()
    _is_refused_while_running(s)
    s.stop()
    s.must_start()
    return "refused, then " + s.nothing_lost()


def delete_log(s: Scene) -> str:
    """Kill; start without pgs.db-wal; put it back."""
    s.kill()
    shutil.copyfile(s.folder / "pgs.db-wal", s.place / "kept")
    (s.folder / "pgs.db-wal").unlink()
    for _ in range(2):
        s.must_refuse("lacks the last", "pgs db accept-loss")
    shutil.copyfile(s.place / "kept", s.folder / "pgs.db-wal")
    s.must_start()
    return "refused, then " + s.nothing_lost()


def accept_a_lost_log(s: Scene) -> str:
    """Kill; delete pgs.db-wal; accept the loss; the reader keeps its cursor."""
    s.stop()
    since = dict(s.seats)
    s.must_start()
    s.play()
    s.kill()
    (s.folder / "pgs.db-wal").unlink()
    s.must_refuse("pgs db accept-loss")
    accepted = s.pgs("db", "accept-loss")
    if accepted.returncode:
        raise Wrong(accepted.stderr)
    s.must_start()
    return "refused, accepted, then " + s.nothing_lost(since=since)


def _backup(s: Scene) -> dict[str, str]:
    made = s.pgs("db", "backup", s.place / "backup")
    if made.returncode:
        raise Wrong(made.stderr)
    since = dict(s.seats)
    s.play()
    return since


def _restore(s: Scene, copy: Path) -> None:
    restored = s.pgs("db", "restore", copy)
    if restored.returncode:
        raise Wrong(restored.stderr)
    s.must_start()


def restore_a_backup(s: Scene) -> str:
    """Back up while it runs; play; restore; the reader keeps its cursor."""
    since = _backup(s)
    if s.pgs("db", "restore", s.place / "backup").returncode != 1:
        raise Wrong("a running service was restored over")
    s.stop()
    _restore(s, s.place / "backup")
    return s.nothing_lost(since=since)


def restore_a_copy_of_sqlite(s: Scene) -> str:
    """Copy the database as the sqlite3 shell does, while it runs; play; restore the copy."""
    source = apsw.Connection(str(s.folder / "pgs.db"))
    copy = apsw.Connection(str(s.place / "copy.db"))
    copy_all(source, copy)
    source.close()
    copy.close()
    since = dict(s.seats)
    s.play()
    s.kill()
    _restore(s, s.place / "copy.db")
    return s.nothing_lost(since=since)


def restore_a_snapshot(s: Scene) -> str:
    """Kill; copy the folder as a snapshot does; play; kill; restore the copy."""
    s.kill()
    shutil.copytree(s.folder, s.place / "snapshot", ignore=shutil.ignore_patterns("operator.sock*"))
    since = dict(s.seats)
    s.must_start()
    s.play()
    s.kill()
    _restore(s, s.place / "snapshot")
    return s.nothing_lost(since=since)


def old_file(s: Scene) -> str:
    """Stop; put an old copy of pgs.db back."""
    s.stop()
    shutil.copyfile(s.folder / "pgs.db", s.place / "old")
    s.must_start()
    s.play()
    s.stop()
    shutil.move(s.folder / "pgs.db", s.place / "new")
    shutil.copyfile(s.place / "old", s.folder / "pgs.db")
    s.must_refuse("is an older copy", "pgs db restore")
    shutil.move(s.place / "new", s.folder / "pgs.db")
    s.must_start()
    return "refused, then " + s.nothing_lost()


def old_folder(s: Scene) -> str:
    """Stop; put an old copy of the whole folder back."""
    s.stop()
    shutil.copytree(s.folder, s.place / "old")
    s.must_start()
    s.play()
    s.stop()
    shutil.rmtree(s.folder)
    shutil.move(s.place / "old", s.folder)
    s.must_start()
    status, told = s.call("GET", f"/partner/results?cursor={s.cursor}")
    if (status, told.get("reason")) != (400, "invalid_cursor"):
        raise Wrong(f"a cursor ahead of the feed was answered {status} {told}")
    until("the log tells of it", lambda: "feed_rewound" in s.log.read_text())
    return "refused: invalid_cursor, feed.rewound"


def swap(s: Scene) -> str:
    """Kill; replace pgs.db by another service's. The write-ahead log of the old pgs.db stays."""
    s.kill()
    other = s.place / "other"
    if (
        made := s.run_script("seed.py", "--data", other, "--partners", 1, "--out", "k2")
    ).returncode:
        raise Wrong(made.stderr)
    shutil.move(s.folder / "pgs.db", s.place / "mine")
    shutil.copyfile(other / "pgs.db", s.folder / "pgs.db")
    s.must_refuse("is not the database that was last open")
    shutil.move(s.place / "mine", s.folder / "pgs.db")
    s.must_start()
    return "refused, then " + s.nothing_lost()


def damage(s: Scene) -> str:
    """Stop; overwrite the index of idempotency keys; restore the backup."""
    since = _backup(s)
    s.stop()
    database = apsw.Connection(str(s.folder / "pgs.db"))
    root = database.execute(_ROOT_PAGE.read_text(encoding="utf-8")).get
    database.close()
    with (s.folder / "pgs.db").open("r+b") as file:
        (size,) = struct.unpack_from(">H", file.read(100), 16)  # where SQLite keeps its page size
        file.seek((root - 1) * size)
        file.write(b"\x0d" * size)
    s.must_start()
    status, told = s.seat("on-damaged-data")
    if status != 503:
        raise Wrong(f"a seat was answered {status} {told}")
    if s.ready()[0] != 503:
        raise Wrong("readiness says that all is well")
    if s.pgs("db", "check").returncode != 1:
        raise Wrong("the check finds nothing")
    s.stop()
    _restore(s, s.place / "backup")
    return "refused, then " + s.nothing_lost(since=since)


def full_disk(s: Scene) -> str:
    """Fill the disk while the service runs, and free it."""
    s.faults(full=True)
    status, told = s.seat("on-a-full-disk")
    if status != 503 or s.ready()[0] != 503:
        raise Wrong(f"a seat was answered {status} {told}, readiness {s.ready()}")
    s.faults()
    until("a seat is taken again", lambda: s.pair("on-a-full-disk"))
    return "refused, healed, then " + s.nothing_lost()


def failed_sync(s: Scene) -> str:
    """Let a sync of the disk fail."""
    s.faults(sync=True)
    try:
        status, _ = s.seat("while-syncs-fail")
    except OSError:
        status = 0
    if status == 200:
        raise Wrong("a seat that is not on disk was acknowledged")
    until("the process ends", s.ended)
    if "sync_failed" not in s.log.read_text():
        raise Wrong("the log does not say why it ended")
    s.faults()
    s.must_start()
    s.pair("while-syncs-fail")
    return "ended at once, then " + s.nothing_lost()


def _clock(s: Scene, seconds: int) -> str:
    s.faults(clock=seconds)
    s.nothing_lost()
    s.kill()
    s.must_start()
    s.nothing_lost()
    s.faults()
    s.nothing_lost()
    s.stop()
    s.must_start()
    return s.nothing_lost()


def clock_ahead(s: Scene) -> str:
    """Step the clock two days ahead, kill, and step it back."""
    return _clock(s, TWO_DAYS_S)


def clock_behind(s: Scene) -> str:
    """Step the clock two days back, kill, and step it ahead."""
    return _clock(s, -TWO_DAYS_S)


RECIPES: dict[str, Callable[[Scene], str]] = {
    recipe.__name__.replace("_", "-"): recipe
    for recipe in (
        kill,
        move_away,
        unmounted,
        move_while_running,
        delete_while_running,
        delete_log_while_running,
        delete_log,
        accept_a_lost_log,
        restore_a_backup,
        restore_a_copy_of_sqlite,
        restore_a_snapshot,
        old_file,
        old_folder,
        swap,
        damage,
        full_disk,
        failed_sync,
        clock_ahead,
        clock_behind,
    )
}

NEED_FAULTS = frozenset({"full-disk", "failed-sync", "clock-ahead", "clock-behind"})
"""Recipes that need the library of faults, and so Linux with a C compiler."""
