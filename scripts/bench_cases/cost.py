"""What a call costs a server."""

from collections.abc import Iterable

from bench_cases.caller import call
from bench_cases.servers import Server
from bench_cases.setting import Failed, Setting


def cost_us(setting: Setting, server: Server, requests: Iterable[bytes]) -> float:
    """Return the processor time of a call in microseconds. Raises `Failed`."""
    ready = list(requests)
    begun = server.cpu_s()
    outcome = call(server.address, iter(ready), connections=setting.connections)
    used = server.cpu_s() - begun
    if outcome.bad():
        raise Failed(f"{server.name} answered {outcome.statuses}")
    return used / len(ready) * 1e6
