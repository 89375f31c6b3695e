"""`keyring.…`: the keys that sign tokens and cursors and seal secrets."""

from pgs.actors.core import Core
from pgs.operator.command import NoArgs, OperatorCommand
from pgs.operator.records import Keyring


async def rotate_the_keyring(core: Core, args: NoArgs) -> Keyring:
    """Put a new key in front of the ring. Whatever the others have made stays good."""
    ring = core.parts.keys.rotate()
    return Keyring(str(core.parts.keys.path), [key.kid for key in ring.keys])


async def list_the_keyring(core: Core, args: NoArgs) -> Keyring:
    """Name the keys on the ring."""
    return Keyring(str(core.parts.keys.path), [key.kid for key in core.parts.ring.keys])


KEYRING_ROTATE = OperatorCommand("keyring.rotate", NoArgs, Keyring, rotate_the_keyring)
KEYRING_LIST = OperatorCommand("keyring.list", NoArgs, Keyring, list_the_keyring)

COMMANDS = (KEYRING_ROTATE, KEYRING_LIST)
