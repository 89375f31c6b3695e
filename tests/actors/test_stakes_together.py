"""Stakes that wait at once are written together, and each is decided as it would be alone."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed, Interrupted, Overloaded
from pgs.actors.kernel.ref import Ref
from pgs.actors.messages.seats import Seated, StakeSeat
from pgs.actors.seating import staking
from pgs.actors.seating.staking import STAKES_TOGETHER
from pgs.domain.environments import Environment
from pgs.domain.errors import Refusal
from pgs.domain.seats import Seat, SeatRequest, new_seat
from pgs.storage.transactions import OutcomeUnknown
from tests.actors.raw_rows import select
from tests.actors.ready_core import FLOOR, GAME, ReadyCore, ready_core
from tests.actors.scripted_settlement import ScriptedSettlement
from tests.virtual import START, Faults

TABLES = ("seat", "match", "ledger", "head", "totals")


def stake(player: str, key: str | None = None, tier: str = "bronze") -> SeatRequest:
    return SeatRequest(player, GAME, tier, FLOOR, key or f"k-{player}", None)


async def ask_at_once(
    s: ReadyCore,
    requests: Iterable[SeatRequest],
    environment: Environment = "test",
    within: float = 5.0,
) -> list[Any]:
    """Put stakes into the mailbox before the actor runs; return the answers, or their errors."""
    return await ask_in_order(s.partner().seats(environment), [(one, within) for one in requests])


async def ask_in_order(ref: Ref, asks: Sequence[tuple[SeatRequest, float]]) -> list[Any]:
    """Ask for stakes, each with its deadline, in one turn of the loop: the actor runs later."""
    waiting, answers = deque(enumerate(asks)), dict[int, object]()

    async def ask() -> None:
        # trio may run the tasks of a turn in reverse, so each takes the next stake when it runs.
        at, (request, within) = waiting.popleft()
        try:
            answers[at] = await ref.ask(StakeSeat(request), within)
        except Exception as error:
            answers[at] = error

    async with trio.open_nursery() as nursery:
        for _ in asks:
            nursery.start_soon(ask)
    return [answers[at] for at in range(len(asks))]


def table(s: ReadyCore, name: str) -> list[str]:
    return sorted(map(repr, select(s, f"select * from {name}")))  # noqa: S608  one of TABLES


def key_names(s: ReadyCore) -> Callable[[str], str]:
    """Return what puts keys in place of ids and leaves hashes out: a replay draws an id, too."""
    keys = dict(select(s, "select seat_id, idempotency_key from seat"))
    for match_id, key in select(s, "select match_id, max(idempotency_key) from seat group by 1"):
        keys[match_id] = f"match of {key}"

    def named(text: str) -> str:
        without_hashes = re.sub(r"\b[0-9a-f]{64}\b", "a hash", text)
        return re.sub(r"(?:sea|mat)_\w+", lambda found: keys[found[0]], without_hashes)

    return named


def seated(answers: Sequence[object]) -> list[str]:
    return [each.seat.player_id for each in answers if isinstance(each, Seated)]


async def test_a_burst_of_a_partner_is_written_in_a_few_transactions(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        await s.seat("first")
        faults.statements.clear()
        answers = await ask_at_once(s, [stake(f"p{number}") for number in range(300)])
        assert len(seated(answers)) == 300
        assert faults.count("begin immediate") == 300 / STAKES_TOGETHER
        await s.check_money()


def random_stakes(chance: Random) -> list[SeatRequest]:
    """Return stakes of few players, of which some repeat others, reuse a key or are refused."""
    stakes: list[SeatRequest] = []
    for number in range(120):
        tier = chance.choice(("bronze", "bronze", "gold", "none"))
        cents = chance.choice((FLOOR, FLOOR, FLOOR, 7))
        key = f"k{number}" if chance.random() < 0.9 else f"k{chance.randrange(120)}"
        new = SeatRequest(f"p{chance.randrange(6)}", GAME, tier, cents, key, None)
        stakes.append(chance.choice(stakes) if stakes and chance.random() < 0.2 else new)
    return stakes


@pytest.mark.parametrize("environment", ["test", "live"])
@pytest.mark.parametrize("seed", range(4))
def test_stakes_decided_together_give_the_same_rows_and_answers_as_one_after_the_other(
    seed: int, environment: Environment, tmp_path: Path
) -> None:
    requests = random_stakes(Random(seed))
    found: dict[bool, tuple[list[str], list[list[str]]]] = {}
    answers: list[Any] = []

    async def play(together: bool) -> None:
        async with ready_core(tmp_path / str(together), seed=seed) as s:
            await s.set_tier("gold", FLOOR, 180)
            groups = [requests] if together else [[each] for each in requests]
            answers[:] = [
                each for group in groups for each in await ask_at_once(s, group, environment)
            ]
            await s.check_money()  # and the chain of hashes, which cover the ids
            by_key = key_names(s)
            found[together] = (
                [by_key(repr(each)) for each in answers],
                [sorted(map(by_key, table(s, each))) for each in TABLES],
            )

    for together in (True, False):
        trio.run(play, together, clock=MockClock(autojump_threshold=0))
    assert found[True] == found[False]
    assert {type(each) for each in answers} == {Seated, Refusal}
    assert {each.replayed for each in answers if isinstance(each, Seated)} == {True, False}
    if environment == "test":
        statuses = {each.seat.status for each in answers if isinstance(each, Seated)}
        assert statuses == {"waiting", "matched"}


async def test_a_stake_that_breaks_its_decision_fails_alone(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(request: SeatRequest, *args: Any, **kwargs: Any) -> Seat:
        if request.player_id == "carol":
            raise ZeroDivisionError
        return new_seat(request, *args, **kwargs)

    monkeypatch.setattr(staking, "new_seat", breaks)
    async with ready_core(tmp_path) as s:
        players = ["alice", "bob", "carol", "dave", "erin"]
        answers = await ask_at_once(s, map(stake, players))
        assert seated(answers) == ["alice", "bob", "dave", "erin"]
        assert isinstance(answers[2], Crashed)
        assert len(select(s, "select * from match")) == 2
        await s.check_money()


async def test_stakes_that_cannot_be_written_together_are_written_one_by_one(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        faults.fail("insert into seat", times=2)  # the group, and then its first stake
        faults.statements.clear()
        answers = await ask_at_once(s, map(stake, ("alice", "bob", "carol")))
        assert faults.count("begin immediate") == 1 + 3
        assert isinstance(answers[0], Crashed)
        assert seated(answers) == ["bob", "carol"]
        assert select(s, "select player_id from seat order by seq") == [("bob",), ("carol",)]
        faults.statements.clear()
        await ask_at_once(s, map(stake, ("dave", "erin", "frank")))
        assert faults.count("begin immediate") == 1, "later stakes are not written together"


async def test_a_group_whose_rows_have_changed_is_decided_again_from_the_new_rows(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults, path = Faults(), tmp_path / "pgs.db"
    async with ready_core(tmp_path, faults=faults) as s:
        await s.seat("early")
        raised = "update head set feed_position = feed_position + 5"
        faults.commit_before("begin immediate", path, raised)
        answers = await ask_at_once(s, map(stake, ("alice", "bob", "carol")))
        assert seated(answers) == ["alice", "bob", "carol"]
        positions = [seat.position for seat in await s.feed()]
        assert positions == [6, 7, 8, 9], "the group did not see the raised head"
        await s.check_money()


async def test_no_stake_of_a_group_is_confirmed_when_its_commit_fails(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        await s.seat("early")
        faults.fail("commit", times=1)
        requests = [stake("alice"), stake("bob"), stake("carol", tier="none"), stake("dave")]
        answers = await ask_at_once(s, requests)
        assert [type(each) for each in answers] == [Interrupted, Interrupted, Refusal, Interrupted]
        again = await ask_at_once(s, requests)
        assert seated(again) == ["alice", "bob", "dave"]
        assert not any(each.replayed for each in again if isinstance(each, Seated))
        await s.check_money()


async def test_a_commit_of_unknown_outcome_is_not_repeated_by_the_actor(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        await s.seat("early")
        faults.fail("commit", OutcomeUnknown("lost"), after=True, times=1)
        requests = [stake("alice"), stake("bob")]
        answers = await ask_at_once(s, requests)
        assert [type(each) for each in answers] == [Interrupted, Interrupted]
        again = await ask_at_once(s, requests)
        assert [each.replayed for each in again] == [True, True], "it was on disk"
        assert (await s.head()).seat_seq == 3


async def test_a_stake_past_its_deadline_is_not_taken_along(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        asks = [(stake("alice"), 5.0), (stake("late"), 0.0), (stake("bob"), 5.0)]
        alice, late, bob = await ask_in_order(s.partner().seats("test"), asks)
        assert seated([alice, bob]) == ["alice", "bob"]
        assert isinstance(late, Overloaded)
        assert len(await s.feed()) == 2


async def test_each_stake_of_a_group_gets_settlements_answer_to_its_own_charge(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement({"k-bob": ["declined"]})
    faults = Faults()
    async with ready_core(tmp_path, port, faults=faults) as s:
        faults.statements.clear()
        answers = await ask_at_once(s, map(stake, ("alice", "bob", "carol")))
        assert answers[1].seat.status == "declined"
        assert {answers[0].seat.status, answers[2].seat.status} == {"waiting", "matched"}
        assert {each.seat.seated_at for each in answers} == {START}
        assert faults.count("begin immediate") == 4, "one for the seats, one for each answer"
        await s.check_money()
