"""The write with which the readiness check tests whether the database accepts commits."""

from pgs.storage.transactions import Stmt, Tx


def beat() -> Tx:
    """Return a transaction that writes only the heartbeat's row."""
    return Tx("", (Stmt("heartbeat.beat", {}, 1),))
