"""A disk that is full."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

_FULL = "/dev/full"


@contextmanager
def full_disk() -> Iterator[int]:
    """Give a file to which nothing can be written.

    Skips the test where the machine has none: the device's name may belong to a plain file.
    """
    try:
        file = os.open(_FULL, os.O_WRONLY)
    except OSError:
        pytest.skip(f"NOT TESTED: no {_FULL}")
    try:
        if not (stat.S_ISCHR(os.fstat(file).st_mode) and _refuses(file)):
            pytest.skip(f"NOT TESTED: {_FULL} is not the device of this name")
        yield file
    finally:
        os.close(file)


def _refuses(file: int) -> bool:
    try:
        os.write(file, b"x")
    except OSError as error:
        return error.errno == errno.ENOSPC
    return False
