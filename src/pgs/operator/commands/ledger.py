"""`ledger.…`: the ledger of all partners."""

from pgs.actors.core import Core
from pgs.operator.command import NoArgs, OperatorCommand
from pgs.operator.records import LedgerChecked
from pgs.storage.bulk import read_in_bulk
from pgs.storage.ledger import check_ledger


async def check_the_ledger(core: Core, args: NoArgs) -> LedgerChecked:
    """Check every row of every ledger; return the ledgers' sums, and the faults that were found."""
    return LedgerChecked.of(
        await read_in_bulk(core.parts.database, check_ledger, core.parts.database.check_limit)
    )


LEDGER_CHECK = OperatorCommand("ledger.check", NoArgs, LedgerChecked, check_the_ledger)

COMMANDS = (LEDGER_CHECK,)
