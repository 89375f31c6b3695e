"""Checks of the service's key ring, its database, and the files of its package."""

from pgs.config import BadSettings, Config
from pgs.doctor.finding import Finding
from pgs.domain.keyring import parse_ring
from pgs.games.installed import BadGame, load_games
from pgs.http.embed.assets import read_assets
from pgs.operator.unix_socket import is_running
from pgs.storage.engines import has_been_used, inspect_database
from pgs.storage.transactions import StoreOutage


def key_ring(config: Config) -> Finding:
    """Return whether the key ring can be read. It may be missing only if the database is new."""
    path = config.key_file
    try:
        ring = parse_ring(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if has_been_used(config.data_dir):
            return Finding(
                "key_ring",
                "problem",
                f"{path} is missing, and the data folder is not new",
                "put the file that belongs to this data folder back, or name its place: "
                "PGS_SECRET_KEY_FILE",
            )
        return Finding(
            "key_ring", "ok", f"{path} is not there: a new service makes it at its start"
        )
    except OSError as error:
        return Finding(
            "key_ring",
            "problem",
            f"{path} cannot be read: {error.strerror}",
            "give the file to the service's user, or name another place: PGS_SECRET_KEY_FILE",
        )
    except ValueError as error:
        return Finding(
            "key_ring",
            "problem",
            f"{path} is damaged: {error}",
            "put the file back from a backup: without it no stored secret can be read",
        )
    count = len(ring.keys)
    return Finding("key_ring", "ok", f"{path} has {count} {'key' if count == 1 else 'keys'}")


def database(config: Config) -> Finding:
    """Return what a start would find. The database is not changed."""
    if config.data_dir.exists() and is_running(config.data_dir):
        return Finding("database", "ok", "the running service has it open")
    try:
        return Finding("database", "ok", inspect_database(config))
    except (BadSettings, StoreOutage) as error:
        return Finding(
            "database",
            "problem",
            str(error),
            "see docs/operations.md; nothing is written until this is settled",
        )


def games() -> Finding:
    """Return which games can be played."""
    try:
        installed = sorted(load_games())
    except BadGame as error:
        return Finding("games", "problem", str(error), "remove the package that installs this game")
    return Finding("games", "ok", ", ".join(installed))


def pages(config: Config) -> Finding:
    """Return whether the package has the frame in which players play."""
    if config.frame_url:
        return Finding("pages", "ok", f"the frame comes from {config.frame_url}")
    if not read_assets().templates:
        return Finding(
            "pages",
            "problem",
            "the package has no frame, so /embed answers 503",
            "install a built wheel, or run scripts/web in the checkout",
        )
    return Finding("pages", "ok", "the frame is in the package")
