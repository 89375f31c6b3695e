"""An account's keys: minted, revoked and rotated, and when they were last used."""

from pathlib import Path

import pytest
from trio.testing import MockClock

from pgs.actors.messages.account.keys import KeyRotated, MintKey, RevokeKey, RotateKey
from pgs.actors.messages.account.webhooks import SaveWebhook
from pgs.actors.shared.key_uses import COARSE_S, ROUND_S
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, refuse
from pgs.domain.keys import ROTATION_S, hash_key, parse_key
from pgs.domain.members import PLATFORM
from pgs.domain.names import LABEL_MAX
from pgs.storage import accounts as rows
from pgs.storage.key_uses import key_uses_of
from tests.actors.account_changes import Change, events, nothing
from tests.actors.api_keys import mint
from tests.actors.endpoints import URL
from tests.actors.people import ask, skip
from tests.actors.ready_core import ReadyCore, at, ready_core, until
from tests.virtual import Faults


def is_accepted(s: ReadyCore, key: str) -> bool:
    known = s.parts.registry.find_key(hash_key(key))
    return known is not None and not known.key.is_revoked(s.parts.clock.now())


async def test_a_minted_key_is_shown_once_and_kept_as_a_hash(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await until(3)
        minted = await ask(s, MintKey("ops", "live", "  build  "))
        account, key_id, key = s.account(), minted.key.key_id, minted.text
        (record,) = account.keys
        assert record == minted.key
        assert (record.key_id, record.environment, record.label, record.created_at) == (
            key_id,
            "live",
            "build",
            at(3),
        )
        assert (record.key_hash, record.last4, record.revokes_at) == (hash_key(key), key[-4:], None)
        parsed = parse_key(key)
        assert parsed is not None
        assert parsed.environment == "live"
        actor, action, detail, when = events(s)[-1]
        assert (actor, action, when) == ("ops", "key.created", at(3))
        assert detail == {
            "keyId": key_id,
            "environment": "live",
            "label": "build",
            "last4": key[-4:],
        }
        assert await rows.read_account(s.reader, "acme") == account == s.account()


async def test_no_key_and_no_secret_is_anywhere_in_the_data_folder(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        key = (await ask(s, MintKey("ops", "live", "build"))).text
        secret = (await ask(s, SaveWebhook("ops", "test", URL))).secret
        marker = "a label that can be found"
        await ask(s, MintKey("ops", "live", marker))
    held = b"".join(
        (tmp_path / name).read_bytes() for name in ("pgs.db", "keys")
    )  # closing moved the write-ahead log into the database
    assert marker.encode() in held  # proves that the search works
    assert hash_key(key).encode() in held
    for hidden in (key, key[9:], key[:-4], secret, secret.removeprefix("whsec_")):
        assert hidden.encode() not in held


async def test_a_key_names_the_member_who_made_it_and_one_of_the_platform_names_nobody(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        by_member = (await ask(s, MintKey("ada", "test", "shop"))).key
        by_platform = (await ask(s, MintKey(PLATFORM, "test", "first"))).key
        rotated = await ask(s, RotateKey("bob", by_member.key_id))
        assert (by_member.created_by, by_platform.created_by) == ("ada", None)
        assert (rotated.previous.created_by, rotated.key.created_by) == ("ada", "bob")
        assert await rows.read_account(s.reader, "acme") == s.account()


@pytest.mark.parametrize("label", ["", "  ", "\t"])
async def test_a_key_needs_a_label(label: str, tmp_path: Path, autojump_clock: MockClock) -> None:
    async with ready_core(tmp_path) as s, nothing(s):
        assert await ask(s, MintKey("ops", "test", label)) == refuse("label_required")
        assert isinstance(await ask(s, MintKey("ops", "test", "x" * (LABEL_MAX + 1))), BadRequest)


async def test_a_key_is_revoked_at_once_and_revoking_it_again_changes_nothing(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        key_id = (await ask(s, MintKey("ops", "test", "build"))).key.key_id
        await until(8)
        async with Change(s, ("ada", "key.revoked", {"keyId": key_id, "environment": "test"})):
            revoked = await ask(s, RevokeKey("ada", key_id))
        assert s.account().keys == (revoked,)
        assert revoked.revokes_at == at(8)
        async with nothing(s):
            assert await ask(s, RevokeKey("ada", key_id)) == revoked
            assert await ask(s, RevokeKey("ada", "key_x")) == refuse("key_not_found")


async def test_revoking_one_key_leaves_the_others(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        ids = [
            (await ask(s, MintKey("ops", "test", label))).key.key_id
            for label in ("one", "two", "three")
        ]
        await ask(s, RevokeKey("ops", ids[1]))
        assert {key.key_id: key.revokes_at for key in s.account().keys} == {
            ids[0]: None,
            ids[1]: at(0),
            ids[2]: None,
        }


# --- rotation ---


async def rotated_key(s: ReadyCore, environment: Environment) -> tuple[str, str, str]:
    """Mint a key and rotate it; return the old key's id, the old key, and the new one."""
    key_id, key = await mint(s, environment=environment)
    rotated = await ask(s, RotateKey("ada", key_id))
    return key_id, key, rotated.text


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


async def test_a_rotated_key_ends_even_if_the_process_was_down_when_it_was_due(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        _, old, new = await rotated_key(s, "live")
    async with ready_core(tmp_path, seed=1) as s:
        assert is_accepted(s, old)
        skip(s, ROTATION_S)
        assert (is_accepted(s, old), is_accepted(s, new)) == (False, True)


async def test_only_an_active_key_is_rotated_and_a_scheduled_one_can_be_revoked_at_once(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        old_id, old, new = await rotated_key(s, "test")
        async with nothing(s):
            assert await ask(s, RotateKey("ada", old_id)) == refuse("key_not_active")
            assert await ask(s, RotateKey("ada", "key_none")) == refuse("key_not_found")
        async with Change(s, ("ada", "key.revoked", {"keyId": old_id, "environment": "test"})):
            await ask(s, RevokeKey("ada", old_id))
        assert (is_accepted(s, old), is_accepted(s, new)) == (False, True)
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
        s.parts.key_uses.note("acme", used, s.parts.clock.now())
        assert await s.parts.key_uses.of("acme", (used, unused)) == {used: at(5)}
        assert await key_uses_of(s.reader, "acme") == {}
        await until(ROUND_S + 1)
        assert await key_uses_of(s.reader, "acme") == {used: at(5)}
        s.parts.key_uses.note("acme", used, s.parts.clock.now())
    async with ready_core(tmp_path, seed=1) as s:
        assert await s.parts.key_uses.of("acme", (used, unused)) == {
            used: at(61)
        }  # the stop wrote the uses that were not in rows
        assert s.account() == account  # and changed no account


@pytest.mark.usefixtures("rare_chores")
async def test_a_key_in_steady_use_is_written_once_an_hour(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        for minute in range(61):
            await until(minute * 60 + 1)
            s.parts.key_uses.note("acme", "key_1", s.parts.clock.now())
            s.parts.key_uses.note("acme", "key_2", s.parts.clock.now())
        assert faults.count("insert into key_use") == 2
        await until(COARSE_S + 2 * ROUND_S + 1)
        s.parts.key_uses.note("acme", "key_1", s.parts.clock.now())
        await until(COARSE_S + 3 * ROUND_S + 1)
        assert faults.count("insert into key_use") == 3
        assert (await s.parts.key_uses.of("acme", ("key_1",)))["key_1"] == at(COARSE_S + 121)


async def test_uses_that_could_not_be_written_are_written_a_minute_later(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        s.parts.key_uses.note("acme", "key_1", s.parts.clock.now())
        faults.fail("insert into key_use")
        await until(ROUND_S + 1)
        assert await key_uses_of(s.reader, "acme") == {}
        faults.heal()
        await until(2 * ROUND_S + 1)
        assert await key_uses_of(s.reader, "acme") == {"key_1": at(0)}
