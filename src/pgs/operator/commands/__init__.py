"""The table of all operator commands, by name.

Each noun has a module: `pgs tier lock` is in `tier`. Commands use the same actors as the APIs.
They run in the service's process, or in the process of `pgs` when no service runs.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from pgs.operator.command import OperatorCommand
from pgs.operator.commands import (
    db,
    game,
    invoice,
    keyring,
    ledger,
    match,
    partner,
    settlement,
    terms,
    tier,
)

_ALL: Final[tuple[OperatorCommand[Any, Any], ...]] = (
    *partner.COMMANDS,
    *game.COMMANDS,
    *tier.COMMANDS,
    *terms.COMMANDS,
    *match.COMMANDS,
    *settlement.COMMANDS,
    *ledger.COMMANDS,
    *invoice.COMMANDS,
    *db.COMMANDS,
    *keyring.COMMANDS,
)

COMMANDS: Final[Mapping[str, OperatorCommand[Any, Any]]] = MappingProxyType(
    {command.name: command for command in _ALL}
)
