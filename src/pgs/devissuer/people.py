"""Who can sign in."""

import msgspec


class Person(msgspec.Struct, frozen=True):
    """Somebody whom the issuer vouches for. `uid` becomes the token's `sub`."""

    uid: str
    name: str
    email: str
    email_verified: bool = True
