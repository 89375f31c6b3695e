"""A new key on the ring that several nodes share."""

from pathlib import Path

import msgspec
import pytest
import trio

from pgs.domain.shards import SHARDS
from pgs.operator.command import NoArgs
from pgs.operator.commands import keyring
from pgs.operator.messages import Refused
from pgs.storage.postgres.nodes import mark
from tests.journeys.installation import PARTNERS, Seeded, node_in_process, seed, settled
from tests.journeys.machines import Machine
from tests.journeys.service import until
from tests.postgres import Server

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


@pytest.fixture
async def seeded(tmp_path: Path, postgres: Server) -> Seeded:
    return await seed(tmp_path, postgres.new_database())


async def test_a_key_is_used_by_all_nodes_at_once_when_each_of_them_accepts_it(
    tmp_path: Path, seeded: Seeded
) -> None:
    theirs = tmp_path / "keys-of-n2"
    theirs.write_bytes(seeded.key_file.read_bytes())
    copied = msgspec.structs.replace(seeded, key_file=theirs)
    async with (
        node_in_process(seeded, tmp_path, "n1") as one,
        node_in_process(copied, tmp_path, "n2") as two,
    ):
        await settled(one, two)
        here, there = Machine(tmp_path, "n1"), Machine(tmp_path, "n2")
        refused = await here.ask(keyring.KEYRING_ROTATE, NoArgs())
        assert isinstance(refused, Refused)
        assert "pgs keyring add" in refused.error
        old, new = (await here.do(keyring.KEYRING_ADD, NoArgs())).kids
        for machine, why in (
            (here, "Node n2 does not accept the key"),
            (there, f"There is no key {new}"),
        ):
            early = await machine.ask(keyring.KEYRING_USE, keyring.KeyId(new))
            assert isinstance(early, Refused)
            assert why in early.error
        theirs.write_bytes(seeded.key_file.read_bytes())
        assert (await there.do(keyring.KEYRING_RELOAD, NoArgs())).kids == [old, new]
        used = await there.do(keyring.KEYRING_USE, keyring.KeyId(new))
        assert (used.kids, used.unreached) == ([new, old], {})
        for node in (one, two):
            assert node.service.core.parts.ring.current.kid == new
        assert theirs.read_text() == seeded.key_file.read_text()
        for name in PARTNERS:  # each call at the wrong node carries a proof of the new key
            for node in (one, two):
                assert (await node.call("/partner/me", seeded.partners[name].test)).status == 200
        listed = await here.run("keyring", "list")
        assert f"{new}, {old}" in listed.stdout


async def test_no_key_is_used_while_a_node_cannot_be_asked_whether_it_accepts_it(
    tmp_path: Path, seeded: Seeded
) -> None:
    async with (
        node_in_process(seeded, tmp_path, "n1") as one,
        node_in_process(seeded, tmp_path, "n2", node_address="127.0.0.1:1") as two,
    ):
        await settled(one, two)
        here = Machine(tmp_path, "n1")
        added = await here.run("keyring", "add", "--json")
        old, new = msgspec.json.decode(added.stdout)["kids"]
        refused = await here.run("keyring", "use", new)
        assert refused.returncode == 1
        assert "Nothing was changed, since n2 gave no answer" in refused.stderr
        assert one.service.core.parts.ring.current.kid == old


async def test_a_drained_node_that_lacks_a_key_keeps_the_others_from_using_it(
    tmp_path: Path, seeded: Seeded
) -> None:
    theirs = tmp_path / "keys-of-n2"
    theirs.write_bytes(seeded.key_file.read_bytes())
    copied = msgspec.structs.replace(seeded, key_file=theirs)
    async with (
        node_in_process(seeded, tmp_path, "n1") as one,
        node_in_process(copied, tmp_path, "n2") as two,
    ):
        await settled(one, two)
        await trio.to_thread.run_sync(lambda: mark(seeded.url, "n2", draining=True))
        await until(lambda: len(one.shards.owned) == SHARDS)
        here, there = Machine(tmp_path, "n1"), Machine(tmp_path, "n2")
        old, new = (await here.do(keyring.KEYRING_ADD, NoArgs())).kids
        refused = await here.ask(keyring.KEYRING_USE, keyring.KeyId(new))
        assert isinstance(refused, Refused)
        assert "Node n2 does not accept the key" in refused.error
        theirs.write_bytes(seeded.key_file.read_bytes())
        assert (await there.do(keyring.KEYRING_RELOAD, NoArgs())).kids == [old, new]
        used = await here.do(keyring.KEYRING_USE, keyring.KeyId(new))
        assert (used.kids, used.unreached) == ([new, old], {})
        assert two.service.core.parts.ring.current.kid == new


async def test_no_key_is_used_while_a_node_does_not_know_which_nodes_run(
    tmp_path: Path, seeded: Seeded, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with node_in_process(seeded, tmp_path, "n1") as one:
        await settled(one)
        here = Machine(tmp_path, "n1")
        old, new = (await here.do(keyring.KEYRING_ADD, NoArgs())).kids
        monkeypatch.setattr("pgs.storage.postgres.shard_keeper.is_fresh", lambda *_: False)
        refused = await here.ask(keyring.KEYRING_USE, keyring.KeyId(new))
        assert isinstance(refused, Refused)
        assert "does not know which nodes run" in refused.error
        assert one.service.core.parts.ring.current.kid == old
