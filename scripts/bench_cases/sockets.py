"""What ten thousand idle WebSockets cost."""

import secrets
from dataclasses import dataclass

import msgspec
import trio
from bench_cases import servers
from bench_cases.caller import call
from bench_cases.launch import mints
from bench_cases.servers import Server
from bench_cases.setting import Failed, Setting
from game_load.bot_socket import BotSocket, connect
from game_load.open_files import allow_sockets
from rich.progress import Progress

TITLE = "Idle WebSockets"
SOCKETS = 10_000
EACH = 100  # sockets of a partner, each with one mint: its bucket holds 300 calls
AT_ONCE = 100  # handshakes at the same time
REST_S = 60.0  # seconds of idleness: three pings of each socket
PROTOCOL = "pgs.game.v1"


@dataclass(frozen=True)
class Idle:
    """What the sockets used: memory in MB, and processor time of the service.

    `handshake_us`: for one handshake, in microseconds. `core`: the share of a core while all
    sockets are open and idle.
    """

    sockets: int
    before_mb: float
    open_mb: float
    handshake_us: float
    core: float


def measure(setting: Setting, sockets: int, rest_s: float, progress: Progress) -> Idle:
    """Return what idle sockets used. Raises `Failed`, `NoAnswers` and `NotStarted`."""
    if why := allow_sockets(sockets):
        raise Failed(why)
    server = servers.product(setting.folder)
    try:
        tokens: list[str] = []

        def keep(status: int, body: bytes) -> None:
            if status != 200:
                raise Failed(f"a mint was answered with {status}")
            tokens.append(msgspec.json.decode(body)["sessionToken"])

        requests = mints(setting, server, secrets.token_hex(4))
        call(server.address, requests, connections=setting.connections, check=keep)
        return trio.run(_measured, server, tokens[:sockets], rest_s, progress)
    finally:
        server.stop()


async def _measured(server: Server, tokens: list[str], rest_s: float, progress: Progress) -> Idle:
    task = progress.add_task("Sockets", total=len(tokens))
    opened: list[BotSocket] = []
    limit = trio.CapacityLimiter(AT_ONCE)
    base_url = f"http://{server.address[0]}:{server.address[1]}"

    async def open_one(token: str) -> None:
        async with limit:
            protocols = [PROTOCOL, f"pgs.token.{token}"]
            opened.append(await connect(base_url, "/game/socket", protocols))
            progress.advance(task)

    async def follow(socket: BotSocket) -> None:
        """Answer pings until cancelled."""
        while True:
            await socket.get()

    before, begun = server.memory_kb() / 1024, server.cpu_s()
    async with trio.open_nursery() as nursery:
        for token in tokens:
            nursery.start_soon(open_one, token)
    handshake = (server.cpu_s() - begun) / len(tokens) * 1e6
    after = server.memory_kb() / 1024
    async with trio.open_nursery() as nursery:
        for socket in opened:
            nursery.start_soon(follow, socket)
        begun = server.cpu_s()
        await trio.sleep(rest_s)
        core = (server.cpu_s() - begun) / rest_s
        nursery.cancel_scope.cancel()
    for socket in opened:
        await socket.aclose()
    return Idle(len(tokens), before, after, handshake, core)
