"""`keyring.…`: the keys that sign tokens and cursors and seal secrets."""

from typing import Annotated

import msgspec
from msgspec import Meta

from pgs.actors.core import Core
from pgs.domain.errors import BadRequest
from pgs.domain.keyring import KeyRing
from pgs.operator.command import Args, NoArgs, OperatorCommand
from pgs.operator.forwarding import answers_of_running
from pgs.operator.messages import Done, Failed
from pgs.operator.records import Keyring

SEVERAL_NODES = (
    "Several nodes share this key ring, and a key that is used at once would be unknown to the "
    "others. Nothing was changed. Run `pgs keyring add`, copy the file to the other machines, run "
    "`pgs keyring reload` on each of them, and then `pgs keyring use KID` on any."
)


class KeyId(Args, frozen=True):
    """The name of a key on the ring."""

    kid: Annotated[str, Meta(min_length=1, max_length=16)]


def _told(core: Core, ring: KeyRing) -> Keyring:
    return Keyring(str(core.parts.keys.path), [key.kid for key in ring.keys])


async def rotate_the_keyring(core: Core, args: NoArgs) -> Keyring | BadRequest:
    """Add a new key, which is used from then on. Older keys stay valid."""
    if core.shards is not None:
        return BadRequest(SEVERAL_NODES)
    return _told(core, core.parts.keys.rotate())


async def add_a_key(core: Core, args: NoArgs) -> Keyring:
    """Add a new key, which is accepted from then on and not used yet."""
    return _told(core, core.parts.keys.add())


async def reload_the_keyring(core: Core, args: NoArgs) -> Keyring:
    """Accept every new key of the file, and go on using the key that is in use.

    The file must have all keys that this process has.
    """
    return _told(core, core.parts.keys.reload())


async def use_a_key(core: Core, args: KeyId) -> Keyring | BadRequest:
    """Use a key of the ring from now on, at every node that runs.

    Refused while one of these nodes does not accept the key.
    """
    kid = args.kid
    if core.parts.ring.find(kid) is None:
        return BadRequest(f"There is no key {kid} on the ring: `pgs keyring list` names its keys.")
    answers = await answers_of_running(core, "keyring.list", NoArgs())
    if answers is None:
        return BadRequest(
            "This node has no session with the database at the moment, so it does not know which "
            "nodes run. Nothing was changed: try again."
        )
    for node, answer in answers.items():
        if not isinstance(answer, Done):
            return BadRequest(f"Nothing was changed, since {node} gave no answer: {answer.error}")
        if kid not in msgspec.json.decode(answer.result, type=Keyring).kids:
            return BadRequest(
                f"Node {node} does not accept the key {kid} yet. Nothing was changed: copy the "
                "file to its machine, and run `pgs keyring reload` there."
            )
    ring = core.parts.keys.use(kid)
    told = await answers_of_running(core, "keyring.use", args)
    if told is None:
        told = dict.fromkeys(answers, Failed("this node lost its session with the database."))
    unreached = {
        node: answer.error for node, answer in told.items() if not isinstance(answer, Done)
    }
    return msgspec.structs.replace(_told(core, ring), unreached=unreached)


async def list_the_keyring(core: Core, args: NoArgs) -> Keyring:
    """Return the names of the keys, the one in use first."""
    return _told(core, core.parts.ring)


KEYRING_ROTATE = OperatorCommand("keyring.rotate", NoArgs, Keyring, rotate_the_keyring)
KEYRING_ADD = OperatorCommand("keyring.add", NoArgs, Keyring, add_a_key)
KEYRING_RELOAD = OperatorCommand("keyring.reload", NoArgs, Keyring, reload_the_keyring)
KEYRING_USE = OperatorCommand("keyring.use", KeyId, Keyring, use_a_key)
KEYRING_LIST = OperatorCommand("keyring.list", NoArgs, Keyring, list_the_keyring)

COMMANDS = (KEYRING_ROTATE, KEYRING_ADD, KEYRING_RELOAD, KEYRING_USE, KEYRING_LIST)
