"""The people who can sign in."""

import msgspec


class Person(msgspec.Struct, frozen=True):
    """Somebody who can sign in. `uid` becomes the token's `sub`."""

    uid: str
    name: str
    email: str
    email_verified: bool = True
