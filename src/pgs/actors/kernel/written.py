"""After a call's first commit, raises `Interrupted` in place of certain other errors.

These other errors are outages, and errors that say that nothing was done. They would mislead the
caller, because the call has committed something.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from pgs.actors.kernel.mail import Crashed, Degraded, Interrupted, Overloaded
from pgs.storage.transactions import StoreOutage, WriterFull


@contextmanager
def already_written() -> Iterator[None]:
    """Raise `Interrupted` in place of an outage, and of any error that says that nothing was done.

    Put the steps of a call after its first commit into the block. Any other error is raised
    unchanged.
    """
    try:
        yield
    except (Overloaded, WriterFull, Degraded, StoreOutage) as error:
        raise Interrupted(f"after a commit: {error}") from error
    except Crashed as error:
        if error.noun is None:
            raise
        raise Interrupted(f"after a commit: {error}") from error
