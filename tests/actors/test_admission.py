"""Which bucket a call draws from: the partner's, then the process's; unknown keys share one."""

from pathlib import Path

import msgspec
from trio.testing import MockClock

from pgs.actors.messages.account.settings import SetRate
from pgs.actors.shared.admission import (
    HOLD_S,
    KEPT,
    ManyBuckets,
    PartnerAdmission,
    PlayerAdmission,
    ProcessAdmission,
    RateLimited,
    policy_of,
)
from pgs.domain.members import PLATFORM
from pgs.domain.token_buckets import PARTNER_POLICY, BucketPolicy
from tests.actors.ready_core import ready_core


async def test_a_partner_has_its_burst_and_then_its_rate(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        admission, account = s.partner().admission, s.account()
        assert [admission.admit(account, 0.0).refused_by for _ in range(301)] == [None] * 300 + [
            "partner"
        ]
        refused = admission.admit(account, 0.0)
        assert (refused.retry_after, refused.answer.left) == (1, 0)
        assert policy_of(account) == PARTNER_POLICY
        assert [admission.admit(account, 1.0).refused_by for _ in range(81)] == [None] * 80 + [
            "partner"
        ]
        assert not admission.is_full(4.0)
        assert admission.is_full(4.75)


async def test_only_calls_within_the_partners_bucket_draw_from_the_process_bucket(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        process = ProcessAdmission(2)
        small = msgspec.structs.replace(s.account(), burst=1, rate=1)
        greedy, other = PartnerAdmission(process), PartnerAdmission(process)
        assert [greedy.admit(small, 0.0).refused_by for _ in range(5)] == [None, *["partner"] * 4]
        assert [other.admit(s.account(), 0.0).refused_by for _ in range(2)] == [None, "process"]
        assert other.admit(s.account(), 0.0).retry_after == 1
        assert process.admit_unknown(0.0).allowed  # forged keys have a bucket of their own


def test_forged_keys_share_one_bucket_and_touch_no_other() -> None:
    process = ProcessAdmission(1)
    assert [process.admit_unknown(0.0).allowed for _ in range(301)] == [True] * 300 + [False]
    assert process.admit(0.0).allowed


async def test_a_rate_that_an_operator_sets_counts_at_once(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        admission = s.partner().admission
        for _ in range(300):
            admission.admit(s.account(), 0.0)
        await s.partner().account().ask(SetRate(PLATFORM, 310, None))
        assert policy_of(s.account()) == BucketPolicy(310, 80)
        assert [admission.admit(s.account(), 0.0).refused_by for _ in range(11)] == [None] * 10 + [
            "partner"
        ]


def test_a_player_has_sixty_calls_and_twenty_more_each_second() -> None:
    players, ann, ben = PlayerAdmission(), ("acme", "test", "ann"), ("acme", "test", "ben")
    assert [players.refuse(ann, 0.0) for _ in range(60)] == [None] * 60
    assert players.refuse(ann, 0.0) == RateLimited(1, 0.0)
    assert players.refuse(ben, 0.0) is None
    assert [players.refuse(ann, 1.0) for _ in range(20)] == [None] * 20
    assert players.refuse(ann, 1.0) == RateLimited(1, 0.0)


def test_a_player_who_ignores_refusals_waits_for_each() -> None:
    players, ann = PlayerAdmission(), ("acme", "live", "ann")
    held = [refused.hold_s for _ in range(200) if (refused := players.refuse(ann, 0.0))]
    assert held == [0.0] * 60 + [HOLD_S] * 80
    assert players.refuse(ann, 60.0) is None


def test_full_buckets_are_dropped_and_others_kept() -> None:
    many = ManyBuckets[int](BucketPolicy(2, 1))
    for number in range(KEPT):
        assert many.take(number, 0.0).allowed
    many.take(0, 0.0)
    assert not many.take(0, 0.0).allowed
    assert len(many) == KEPT
    many.take(KEPT, 1.0)  # all but the first are full again
    assert len(many) == 2
    assert many.take(0, 1.0).allowed
    assert not many.take(0, 1.0).allowed


async def test_the_game_api_of_a_partner_has_ten_times_the_partners_bucket(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        small = msgspec.structs.replace(s.account(), burst=2, rate=1)
        admission = s.partner().game_admission
        assert [admission.admit(small, 0.0).refused_by for _ in range(21)] == [
            *[None] * 20,
            "partner",
        ]
