"""A key's rotation and its end, and when keys were last used."""

from pathlib import Path

import pytest
from trio.testing import MockClock

from pgs.actors.messages.account.keys import KeyRotated, MintKey, RevokeKey, RotateKey
from pgs.actors.shared.key_uses import COARSE_S, ROUND_S
from pgs.domain.errors import BadRequest, refuse
from pgs.domain.keys import ROTATION_S, hash_key
from pgs.storage.key_uses import key_uses_of
from tests.actors.people import ask, skip
from tests.actors.ready_core import ReadyCore, at, ready_core, until
from tests.actors.test_account import Change, nothing
from tests.virtual import Faults


def is_accepted(s: ReadyCore, key: str) -> bool:
    known = s.parts.registry.find_key(hash_key(key))
    return known is not None and not known.key.is_revoked(s.parts.clock.now())


async def test_a_rotated_key_works_beside_the_new_one_for_seven_days_to_the_second(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        minted = await ask(s, MintKey("ops", "live", "build"))
        old_id, old = minted.key.key_id, minted.text
        skip(s, 10)
        revision = s.account().revision
        rotated = await ask(s, RotateKey("ada", old_id))
        assert s.account().revision == revision + 1
        assert (rotated.key.environment, rotated.key.label, rotated.key.created_at) == (
            "live",
            "build",
            at(10),
        )
        assert rotated.key.key_hash == hash_key(rotated.text)
        assert (rotated.previous.key_id, rotated.previous.revokes_at) == (
            old_id,
            at(10 + ROTATION_S),
        )
        assert ROTATION_S == 7 * 86_400
        assert [key.status(at(10)) for key in s.account().keys] == ["scheduled", "active"]
        assert rotated.text not in repr(rotated)
        assert (is_accepted(s, old), is_accepted(s, rotated.text)) == (True, True)
        skip(s, ROTATION_S - 1)
        assert is_accepted(s, old)
        skip(s, 1)
        assert (is_accepted(s, old), is_accepted(s, rotated.text)) == (False, True)
        assert [key.status(s.parts.clock.now()) for key in s.account().keys] == [
            "revoked",
            "active",
        ]


async def test_an_account_has_no_more_keys_than_can_be_published(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ready_core(tmp_path) as s:
        monkeypatch.setattr("pgs.domain.keys.KEYS_MAX", len(s.account().keys) + 1)
        key_id = (await ask(s, MintKey("ops", "live", "last"))).key.key_id
        before = s.account()
        assert isinstance(await ask(s, MintKey("ops", "live", "more")), BadRequest)
        assert isinstance(await ask(s, RotateKey("ops", key_id)), BadRequest)
        assert s.account() == before


async def test_a_rotated_key_ends_though_the_process_was_down_when_it_was_due(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        minted = await ask(s, MintKey("ops", "live", "build"))
        old_id, old = minted.key.key_id, minted.text
        rotated = await ask(s, RotateKey("ada", old_id))
    async with ready_core(tmp_path, seed=1) as s:
        assert is_accepted(s, old)
        skip(s, ROTATION_S)
        assert (is_accepted(s, old), is_accepted(s, rotated.text)) == (False, True)


async def test_only_an_active_key_is_rotated_and_a_scheduled_one_can_be_revoked_at_once(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        minted = await ask(s, MintKey("ops", "test", "build"))
        old_id, old = minted.key.key_id, minted.text
        rotated = await ask(s, RotateKey("ada", old_id))
        async with nothing(s):
            assert await ask(s, RotateKey("ada", old_id)) == refuse("key_not_active")
            assert await ask(s, RotateKey("ada", "key_none")) == refuse("key_not_found")
        async with Change(s, ("ada", "key.revoked", {"keyId": old_id, "environment": "test"})):
            await ask(s, RevokeKey("ada", old_id))
        assert (is_accepted(s, old), is_accepted(s, rotated.text)) == (False, True)
        assert await ask(s, RotateKey("ada", old_id)) == refuse("key_not_active")


@pytest.mark.parametrize(
    "text", ["insert into api_key", "update api_key", "insert into key_index", "insert into event"]
)
async def test_a_rotation_is_whole_or_not_at_all(
    text: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        old_id = (await ask(s, MintKey("ops", "test", "build"))).key.key_id
        async with nothing(s):
            faults.fail(text)
            with pytest.raises(Exception, match="the write failed"):
                await ask(s, RotateKey("ada", old_id))
            faults.heal()
        assert isinstance(await ask(s, RotateKey("ada", old_id)), KeyRotated)


# --- last use ---


async def test_a_keys_last_use_is_known_at_once_and_survives_a_restart(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        used = (await ask(s, MintKey("ops", "test", "used"))).key.key_id
        unused = (await ask(s, MintKey("ops", "test", "unused"))).key.key_id
        account = s.account()
        await until(5)
        s.parts.key_uses.note("acme", used)
        assert await s.parts.key_uses.of("acme", (used, unused)) == {used: at(5)}
        assert await key_uses_of(s.reader, "acme") == {}
        await until(ROUND_S + 1)
        assert await key_uses_of(s.reader, "acme") == {used: at(5)}
        s.parts.key_uses.note("acme", used)
    async with ready_core(tmp_path, seed=1) as s:
        assert await s.parts.key_uses.of("acme", (used, unused)) == {
            used: at(61)
        }  # the stop wrote the uses that were not in rows
        assert s.account() == account  # and changed no account


async def test_a_key_in_steady_use_is_written_once_an_hour(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        for minute in range(61):
            await until(minute * 60 + 1)
            s.parts.key_uses.note("acme", "key_1")
            s.parts.key_uses.note("acme", "key_2")
        assert faults.count("insert into key_use") == 2
        await until(COARSE_S + 2 * ROUND_S + 1)
        s.parts.key_uses.note("acme", "key_1")
        await until(COARSE_S + 3 * ROUND_S + 1)
        assert faults.count("insert into key_use") == 3
        assert (await s.parts.key_uses.of("acme", ("key_1",)))["key_1"] == at(COARSE_S + 121)


async def test_uses_that_could_not_be_written_are_written_a_minute_later(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        s.parts.key_uses.note("acme", "key_1")
        faults.fail("insert into key_use")
        await until(ROUND_S + 1)
        assert await key_uses_of(s.reader, "acme") == {}
        faults.heal()
        await until(2 * ROUND_S + 1)
        assert await key_uses_of(s.reader, "acme") == {"key_1": at(0)}
