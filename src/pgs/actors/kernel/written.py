"""Turns errors that say that nothing was done into `Interrupted`, after a call's first commit."""

from collections.abc import Iterator
from contextlib import contextmanager

from pgs.actors.kernel.mail import Crashed, Degraded, Interrupted, Overloaded
from pgs.storage.transactions import StoreOutage, WriterFull


@contextmanager
def already_written() -> Iterator[None]:
    """Turn an outage, and any error that says that nothing was done, into `Interrupted`.

    For the steps of a call after its first commit. Any other error is raised unchanged.
    """
    try:
        yield
    except (Overloaded, WriterFull, Degraded, StoreOutage) as error:
        raise Interrupted(f"after a commit: {error}") from error
    except Crashed as error:
        if error.noun is None:
            raise
        raise Interrupted(f"after a commit: {error}") from error
