"""What a group of transactions comes to when the server refuses or doubts a part of it."""

from collections.abc import Iterator

import outcome
import psycopg
import pytest
from structlog.testing import capture_logs

from pgs.storage.postgres.commits import PostgresCommits
from pgs.storage.postgres.connecting import connect
from pgs.storage.postgres.connection import Connection
from pgs.storage.postgres.migrating import migrate
from pgs.storage.postgres.session import WriterSession
from pgs.storage.transactions import Outcome, OutcomeUnknown, StoreOutage, Tx, WriteFailed
from pgs.storage.writer import Job
from tests.storage.writing import AllIsWell, lock, tx_of

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


class Counted(AllIsWell):
    """Counts the groups that were committed."""

    def __init__(self) -> None:
        self.groups = 0

    def committed(self, commits: int) -> None:
        self.groups += 1


@pytest.fixture
def counted() -> Counted:
    return Counted()


@pytest.fixture
def commits(url: str, counted: Counted) -> Iterator[PostgresCommits]:
    """Commits on a first session; the next sessions have the numbers 2, 3 and so on."""
    numbers = iter(range(1, 10))

    def session() -> WriterSession:
        return WriterSession(url, "pgs test", next(numbers))

    first = session()
    migrate(first.connection)
    first.connection.command("insert into heartbeat (name, beats) values ('writes', 1)")
    opened = PostgresCommits(first, session, counted)
    with capture_logs():
        yield opened
    opened.close()


def run(url: str, sql: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(sql.encode())
        return found.fetchall() if found.description else []


def answer_with(url: str, table: str, statement: str) -> None:
    """Let the server run a statement of its own for each row that is written to a table."""
    run(
        url,
        "create function said() returns trigger language plpgsql as "
        f"$$ begin {statement}; return new; end $$",
    )
    run(
        url,
        f"create trigger said before insert or update on {table} for each row "
        "execute function said()",
    )


def outcomes(commits: PostgresCommits, *txs: Tx) -> list[object]:
    """Commit all transactions in one group; return each one's outcome, or its error's class."""
    jobs = [Job(tx, commits.session) for tx in txs]
    commits.commit(jobs)
    found: list[object] = []
    for job in jobs:
        assert job.result is not None
        if isinstance(job.result, outcome.Value):
            found.append(job.result.value)
        else:
            found.append(type(job.result.error))
    return found


def locked(url: str) -> list[tuple[object, ...]]:
    return run(url, "select game_id from tier_lock order by game_id")


async def test_a_fault_of_the_server_fails_one_transaction_and_the_session_stays(
    commits: PostgresCommits, url: str
) -> None:
    full = "raise exception 'the disk is full' using errcode = '53100'"
    answer_with(url, "tier_lock", f"if new.game_id = 'b' then {full}; end if")
    txs = [tx_of(lock(game)) for game in "abc"]
    assert outcomes(commits, *txs) == [Outcome.COMMITTED, WriteFailed, Outcome.COMMITTED]
    assert locked(url) == [("a",), ("c",)]
    assert outcomes(commits, tx_of(lock("d"))) == [Outcome.COMMITTED]
    assert commits.session == 1


async def test_a_commit_with_a_warning_has_an_unknown_outcome_and_ends_the_session(
    commits: PostgresCommits, url: str
) -> None:
    answer_with(url, "tier_lock", "if new.game_id = 'a' then raise warning 'no standby'; end if")
    assert outcomes(commits, tx_of(lock("a"))) == [OutcomeUnknown]
    # The first one was decided on the session that has ended.
    assert outcomes(commits, tx_of(lock("b"))) == [WriteFailed]
    assert outcomes(commits, tx_of(lock("c"))) == [Outcome.COMMITTED]
    assert commits.session == 2
    assert locked(url) == [("a",), ("c",)]


async def test_a_count_of_commits_that_fails_leaves_the_group_unknown_and_unwritten(
    commits: PostgresCommits, url: str
) -> None:
    answer_with(url, "heartbeat", "raise exception 'no'")
    assert outcomes(commits, tx_of(lock("a")), tx_of(lock("b"))) == [OutcomeUnknown] * 2
    assert locked(url) == []


async def test_the_rest_of_a_group_is_not_written_once_its_session_is_lost(
    commits: PostgresCommits, url: str
) -> None:
    full = "raise exception 'the disk is full' using errcode = '53100'"
    warned = "if new.game_id = 'a' then raise warning 'no standby'; end if"
    answer_with(url, "tier_lock", f"{warned}; if new.game_id = 'f' then {full}; end if")
    # The fault of the third one splits the group, and the session ends with the first part.
    txs = [tx_of(lock(game)) for game in "abfc"]
    assert outcomes(commits, *txs) == [OutcomeUnknown, OutcomeUnknown, WriteFailed, WriteFailed]
    assert locked(url) == [("a",), ("b",)]


async def test_conflicts_are_left_out_and_the_rest_of_their_group_is_committed_once(
    url: str, commits: PostgresCommits, counted: Counted
) -> None:
    txs = [tx_of(lock(game)) for game in "abacbd"]
    conflict, done = Outcome.CONFLICT, Outcome.COMMITTED
    assert outcomes(commits, *txs) == [done, done, conflict, done, conflict, done]
    assert locked(url) == [("a",), ("b",), ("c",), ("d",)]
    assert counted.groups == 1
    assert outcomes(commits, *txs[:2]) == [conflict, conflict]
    assert counted.groups == 1


async def test_a_conflict_with_a_transaction_of_unknown_outcome_is_a_failed_write(
    commits: PostgresCommits, url: str
) -> None:
    answer_with(url, "tier_lock", "if new.game_id = 'a' then raise warning 'no standby'; end if")
    txs = [tx_of(lock(game)) for game in "abbc"]
    unknown = OutcomeUnknown
    # Whether the row of the first `b` is there is unknown, so the second one has no verdict.
    assert outcomes(commits, *txs) == [unknown, unknown, WriteFailed, unknown]


async def test_an_abandoned_session_is_ended_and_the_next_group_opens_another(
    commits: PostgresCommits, url: str
) -> None:
    commits.abandon()
    commits.abandon()
    assert outcomes(commits, tx_of(lock("a"))) == [WriteFailed]
    assert outcomes(commits, tx_of(lock("a"))) == [Outcome.COMMITTED]
    assert commits.session == 2


def test_a_malformed_address_is_refused_with_the_name_of_its_setting() -> None:
    with pytest.raises(StoreOutage, match="PGS_DATABASE_URL"):
        connect("postgresql://pgs@/test?nonsense=1", "pgs test")


def test_every_use_of_a_closed_connection_is_an_outage(url: str) -> None:
    connection = Connection(connect(url, "pgs test"), lambda _: None)
    connection.close()
    assert connection.is_lost
    with pytest.raises(StoreOutage):
        connection.command("select 1")
    with pytest.raises(StoreOutage):
        connection.pipeline([])
