"""The script that writes the owners of shards for nginx, alone and beside a real nginx."""

import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from runpy import run_path

import pytest
import trio

from pgs.domain.shards import shard_of, shard_of_slot
from tests.deploy.proxies import DEPLOY, OWNERS_MAP, Proxy, proxied
from tests.deploy.stand_ins import NAMES, StandIns, stand_ins
from tests.deploy.test_node_proxies import node_for, ways_to
from tests.journeys.service import until

SCRIPT = DEPLOY / "nginx" / "pgs-owners"
PARTNERS = ("acme", "best-test", "zebra-7")

Answer = Callable[[], object]


def test_each_slot_is_found_in_the_map_with_the_owner_of_its_shard() -> None:
    owners = {shard: f"n{shard % 3 + 1}" for shard in range(64)}
    lines = re.findall(r'"~(.*)" pgs_(\S+);', run_path(str(SCRIPT))["map_of"](owners))
    assert len(lines) == 64
    patterns = [(re.compile(pattern), name) for pattern, name in lines]
    for number in range(4096):
        slot = f"{number:03x}"
        shard = shard_of_slot(slot)
        assert shard is not None
        found = [name for pattern, name in patterns if pattern.search(slot)]
        assert found == [owners[shard]]
    for other in ("frame:be5", "0" * 32, "be", ""):
        assert not any(pattern.search(other) for pattern, _ in patterns)


@pytest.mark.parametrize(
    "arguments", [[], ["file"], ["file", "n1"], ["file", "n1="], ["file", "n1;=127.0.0.1:1"]]
)
def test_wrong_arguments_are_refused_with_an_example(arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True)
    assert done.returncode == 1
    assert "pgs-owners /etc/nginx/pgs-owners.map n1=10.0.0.1:8001" in done.stderr


@asynccontextmanager
async def _internal(answer: Answer) -> AsyncIterator[str]:
    """Yield the address of a listener that answers every call with JSON."""

    async def serve(stream: trio.SocketStream) -> None:
        async with stream:
            await stream.receive_some(65536)
            body = json.dumps(answer()).encode()
            await stream.send_all(b"HTTP/1.0 200 OK\r\n\r\n" + body)

    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        yield f"127.0.0.1:{listeners[0].socket.getsockname()[1]}"
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def _following(folder: Path, reload: str, *answers: Answer) -> AsyncIterator[Path]:
    """Run the script for nodes n1, n2, … with these answers; yield the path of its file."""
    path = folder / OWNERS_MAP
    async with AsyncExitStack() as stack:
        nodes = [
            f"n{number}={await stack.enter_async_context(_internal(answer))}"
            for number, answer in enumerate(answers, 1)
        ]
        command = [sys.executable, str(SCRIPT), str(path), *nodes]
        settings = {**os.environ, "EVERY_S": "0.05", "RELOAD": reload}
        nursery = await stack.enter_async_context(trio.open_nursery())
        nursery.start_soon(partial(trio.run_process, command, env=settings, check=False))
        yield path
        nursery.cancel_scope.cancel()


def _owners(path: Path) -> set[str]:
    return set(re.findall(r"pgs_(\S+);", path.read_text())) if path.exists() else set()


async def test_a_shard_for_which_no_node_answers_keeps_its_last_owner(tmp_path: Path) -> None:
    first: dict[str, object] = {"node": "n1", "shards": {"0": 1.0}}
    second: dict[str, object] = {"node": "n2", "shards": {"1": 1.0, "64": 1.0}}
    async with _following(tmp_path, "true", lambda: first, lambda: second) as path:
        await until(lambda: _owners(path) == {"n1", "n2"})
        assert path.read_text().count("pgs_") == 2  # there is no shard 64
        first["shards"], second["shards"] = {}, {"0": 1.0}
        await until(lambda: _owners(path) == {"n2"})
        assert path.read_text().count("pgs_") == 2


async def test_a_failed_reload_is_tried_again(tmp_path: Path) -> None:
    tries = tmp_path / "tries"
    reload = f"sh -c 'echo >>{tries}; test $(wc -l <{tries}) -ge 3'"
    async with _following(tmp_path, reload, lambda: {"shards": {"0": 1.0}}):
        await until(lambda: tries.exists() and len(tries.read_text()) == 3)
        await trio.sleep(0.5)  # ten looks
    assert len(tries.read_text()) == 3


def _shards_of(nodes: StandIns, name: str) -> Answer:
    def answer() -> object:
        owned = [shard for shard, node in nodes.shards.items() if node and node.name == name]
        return {"node": name, "shards": dict.fromkeys(owned, 1.0)}

    return answer


@pytest.mark.slow
async def test_nginx_sends_requests_to_their_owner_and_follows_it_when_it_moves(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "nginx"
    reload = f"sh -c 'kill -HUP $(cat {folder}/nginx.pid)'"
    async with (
        stand_ins() as nodes,
        proxied("nginx", folder, 0, nodes=nodes.addresses) as proxy,
        _following(folder, reload, *(_shards_of(nodes, name) for name in NAMES)),
    ):
        for turn in range(3):
            for number, partner_id in enumerate(PARTNERS):
                nodes.give(partner_id, NAMES[(number + turn) % 3])
            await until(partial(_nothing_is_forwarded, nodes, proxy))


async def _nothing_is_forwarded(nodes: StandIns, proxy: Proxy) -> bool:
    """Return whether each node gets the requests of its own partners, frames aside."""
    for events in nodes.events.values():
        events.clear()
    # nginx closes idle connections when it reloads, perhaps while a request is on its way to them.
    async with proxy.pool(kept=0) as pool:
        for partner_id in PARTNERS:
            owner = nodes.shards[shard_of(partner_id)]
            assert owner is not None
            for way in ways_to(partner_id):
                if way[2] is not None:
                    assert await node_for(pool, proxy, *way) == owner.name
    return nodes.forwarded == 0
