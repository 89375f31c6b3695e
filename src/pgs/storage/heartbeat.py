"""Whether the database takes a commit."""

from pgs.storage.transactions import Stmt, Tx


def beat() -> Tx:
    """Return a transaction that writes only the heartbeat's row."""
    return Tx("", (Stmt("heartbeat.beat", {}, 1),))
