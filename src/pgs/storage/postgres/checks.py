"""The damage to the database that its server has noticed."""

from pgs.storage.postgres.connection import Connection

_INVALID = (
    "select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid "
    "join pg_namespace n on n.oid = c.relnamespace "
    "where n.nspname = current_schema() and not (i.indisvalid and i.indisready) order by c.relname"
)

_CHECKSUMS = (
    "select coalesce(checksum_failures, 0) from pg_stat_database where datname = current_database()"
)


def faults_of(connection: Connection) -> list[str]:
    """Return the faults that the server has noticed: invalid indexes, pages with bad checksums."""
    faults = [f"the index {name} is not valid" for (name,) in connection.command(_INVALID)]
    ((failures,),) = connection.command(_CHECKSUMS)
    if failures:
        faults.append(f"wrong checksums of pages that the server has read: {failures}")
    return faults
