"""Runs every check of `pgs doctor`, one after the other."""

from collections.abc import Awaitable, Callable
from typing import Final

from pgs.config import Config
from pgs.doctor import data, machine, network
from pgs.doctor.finding import Finding, Report, summarised
from pgs.http.outbound.fetch import JsonClient

_CHECKS: Final[tuple[Callable[[Config], Finding], ...]] = (
    machine.data_folder,
    machine.disk_kind,
    machine.free_space,
    machine.file_modes,
    data.key_ring,
    data.database,
    data.pages,
    network.base_url,
)
_MACHINE: Final[tuple[Callable[[], Finding], ...]] = (
    data.games,
    machine.open_files,
    machine.clock_kept,
)
_CALLS: Final[tuple[Callable[[Config, JsonClient], Awaitable[Finding]], ...]] = (
    network.identity_issuer,
    network.settlement,
    network.frame,
)


async def examine(config: Config, client: JsonClient | None = None) -> Report:
    """Return the findings of all checks. Nothing is changed, and no lock is taken.

    `client` calls the services that the settings name; tests give one that trusts their own
    certificates.
    """
    client = client or JsonClient()
    findings = [Finding("settings", "ok", "every setting can be read and has a valid value")]
    findings += [check(config) for check in _CHECKS]
    findings += [check() for check in _MACHINE]
    findings += [await network.service(config), await network.look_up(config)]
    findings += [await call(config, client) for call in _CALLS]
    return summarised(tuple(findings))
