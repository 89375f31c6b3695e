"""The record of a copy from one engine to the other."""

import msgspec


class Copied(msgspec.Struct, frozen=True, rename="camel"):
    """What was copied: the number of tables and rows, all of which were compared afterwards."""

    tables: int
    rows: int
