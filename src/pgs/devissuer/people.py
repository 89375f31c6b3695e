"""The people who can sign in."""

import msgspec


class Person(msgspec.Struct, frozen=True):
    """A person who can sign in. `uid` is the `sub` of their tokens."""

    uid: str
    name: str
    email: str
    email_verified: bool = True
