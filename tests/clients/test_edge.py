"""The JavaScript client runs where there is no Node: with what an edge runtime offers."""

from pathlib import Path

import pytest
import trio

from tests.clients.node import JS, node
from tests.demo.service import demo_service
from tests.patience import PATIENCE_S

FLAGS = ("--experimental-vm-modules", "--no-warnings")
"""Node loads modules into another context only with the first flag, and then prints a warning."""


@pytest.mark.slow
async def test_the_client_plays_a_match_in_an_edge_runtime(tmp_path: Path) -> None:
    program = JS / "tests" / "edge.mjs"
    with trio.fail_after(PATIENCE_S):
        async with demo_service(tmp_path) as (service, demo, _):
            said = await node(
                program, service.base_url, demo.test_key, folder=tmp_path, flags=FLAGS
            )
    assert said.splitlines() == ["ended won 180", "SeatNotFound", "acme"]
