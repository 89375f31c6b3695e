"""One commit of several statements."""

from pgs.storage.database import Database
from pgs.storage.transactions import Outcome, Stmt, Tx


async def commit(database: Database, *stmts: Stmt) -> Outcome:
    return await database.writer.submit(Tx("acme", stmts))
