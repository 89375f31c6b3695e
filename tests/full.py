"""A full disk."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

_FULL = "/dev/full"


@contextmanager
def full_disk() -> Iterator[int]:
    """Give an open file on which every write fails with ENOSPC.

    Skips the test where `/dev/full` is missing, or is a plain file.
    """
    try:
        file = os.open(_FULL, os.O_WRONLY)
    except OSError:
        pytest.skip(f"NOT TESTED: no {_FULL}")
    try:
        if not (stat.S_ISCHR(os.fstat(file).st_mode) and _refuses(file)):
            pytest.skip(f"NOT TESTED: {_FULL} accepts bytes")
        yield file
    finally:
        os.close(file)


def _refuses(file: int) -> bool:
    try:
        os.write(file, b"x")
    except OSError as error:
        return error.errno == errno.ENOSPC
    return False
