"""The operator's commands in one table. Those of each noun are in the module of that name: `pgs tier lock` is in `tier`.

They go through the same actors as everything else, in the service's process while it runs, else in that of the command line.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from pgs.operator.command import OperatorCommand
from pgs.operator.commands import db, game, keyring, ledger, match, partner, terms, tier

_ALL: Final[tuple[OperatorCommand[Any, Any], ...]] = (
    *partner.COMMANDS,
    *game.COMMANDS,
    *tier.COMMANDS,
    *terms.COMMANDS,
    *match.COMMANDS,
    *ledger.COMMANDS,
    *db.COMMANDS,
    *keyring.COMMANDS,
)

COMMANDS: Final[Mapping[str, OperatorCommand[Any, Any]]] = MappingProxyType(
    {command.name: command for command in _ALL}
)
