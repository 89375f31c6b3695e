"""Credentials in the paths of requests, which the log must not show."""

import re
from typing import Final

from pgs.domain import cursors, sessions
from pgs.domain.keys import KEY_MARKS
from pgs.domain.secrets import SIGNING_MARK

_MARKS: Final = (*KEY_MARKS, f"{sessions.FORMAT}.", f"{cursors.FORMAT}.", SIGNING_MARK)
_CREDENTIAL = re.compile(f"({'|'.join(map(re.escape, _MARKS))})[^/]+")


def without_credentials(path: str) -> str:
    """Return a path with `[hidden]` in place of each key, token, cursor and signing secret.

    The first characters of a credential, which say what it is, stay.
    """
    # Every request's path is checked here, and few contain a credential. A plain search is cheaper
    # than the regular expression, so the expression runs only for paths that contain a mark.
    if any(mark in path for mark in _MARKS):
        return _CREDENTIAL.sub(r"\1[hidden]", path)
    return path
