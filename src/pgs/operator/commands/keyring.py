"""`keyring.…`: the keys that sign tokens and cursors and seal secrets."""

from pgs.actors.core import Core
from pgs.operator.command import NoArgs, OperatorCommand
from pgs.operator.records import Keyring


async def rotate_the_keyring(core: Core, args: NoArgs) -> Keyring:
    """Add a new key, which is used from then on. Older keys stay valid."""
    ring = core.parts.keys.rotate()
    return Keyring(str(core.parts.keys.path), [key.kid for key in ring.keys])


async def list_the_keyring(core: Core, args: NoArgs) -> Keyring:
    """Return the names of the keys, the newest first."""
    return Keyring(str(core.parts.keys.path), [key.kid for key in core.parts.ring.keys])


KEYRING_ROTATE = OperatorCommand("keyring.rotate", NoArgs, Keyring, rotate_the_keyring)
KEYRING_LIST = OperatorCommand("keyring.list", NoArgs, Keyring, list_the_keyring)

COMMANDS = (KEYRING_ROTATE, KEYRING_LIST)
