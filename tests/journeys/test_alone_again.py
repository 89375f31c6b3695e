"""A node's data folder serves a single service, or a command, and a node again."""

import dataclasses
from pathlib import Path

import pytest

from pgs.cli.call import perform
from pgs.cli.errors import OthersRun
from pgs.config import Config
from pgs.operator.commands.partner import PARTNER_DEACTIVATE, PartnerId
from pgs.operator.messages import Done
from pgs.storage.postgres.session import DatabaseInUse
from tests.journeys.client import ok
from tests.journeys.installation import PARTNERS, Seeded, node_in_process, settled
from tests.journeys.partners import seat_body
from tests.journeys.service import in_process

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


async def test_a_data_folder_serves_a_node_then_a_single_service_and_a_node_again(
    tmp_path: Path, seeded: Seeded
) -> None:
    key = seeded.partners[PARTNERS[0]].test
    for _ in range(2):
        async with node_in_process(seeded, tmp_path, "n1") as one:
            await settled(one)
            ok(await one.public.call("POST", "/partner/matches", key, seat_body("ann", "ann")))
        async with in_process(
            tmp_path / "n1", database_url=seeded.url, secret_key_file=seeded.key_file
        ) as alone:
            assert (await alone.internal.get("/internal/readyz"))[0] == 200
            ok(await alone.public.call("POST", "/partner/matches", key, seat_body("bob", "bob")))


async def test_a_command_on_the_folder_of_a_stopped_node_needs_all_nodes_to_be_stopped(
    tmp_path: Path, seeded: Seeded
) -> None:
    async with node_in_process(seeded, tmp_path, "n1") as one:
        await settled(one)
    config = Config(
        data_dir=tmp_path / "n1",
        database_url=seeded.url,
        node_name="n1",
        node_address="127.0.0.1:1",
        secret_key_file=seeded.key_file,
    )
    partner = PartnerId(PARTNERS[0])
    async with node_in_process(seeded, tmp_path, "n2") as two:
        await settled(two)
        with pytest.raises(OthersRun):
            await perform(config, PARTNER_DEACTIVATE, partner)
        alone = dataclasses.replace(config, node_name="", node_address="")
        with pytest.raises(DatabaseInUse):
            await perform(alone, PARTNER_DEACTIVATE, partner)
    assert isinstance(await perform(config, PARTNER_DEACTIVATE, partner), Done)
