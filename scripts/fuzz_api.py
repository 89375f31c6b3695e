#!/usr/bin/env python3
"""Sends the service unusual calls, which schemathesis makes from /openapi.json.

    scripts/fuzz_api.py --seconds 60

It starts the service with an empty data folder and a partner with a raised rate limit, and sends
calls with that partner's key, with a player's session token and as the account's admin: examples,
edge cases, random values and chains of calls. The exit code is 1 if an answer contradicts the
document or is a 5xx, and 3 if schemathesis cannot be installed. It is installed in .venv-fuzz, from
requirements-fuzz.txt, so that its many packages stay out of .venv.

Sensitive calls of the admin need a code that is two minutes old at most, and a code works once. The
service's clock stands still here, so that the one code that the admin has given stays fresh.
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import json
import logging
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import httpcore
import structlog
import trio
import typer

from pgs.actors.core import Core
from pgs.actors.messages.account.keys import KeyMinted, MintKey
from pgs.actors.messages.account.lifecycle import CreatePartner, PartnerCreated
from pgs.actors.messages.account.members import AcceptInvite
from pgs.actors.messages.account.settings import AgreeTerms, ChangeLicence, SetRate
from pgs.actors.messages.catalogue import SetTier
from pgs.clock import SystemRng
from pgs.config import Config
from pgs.demo.loopback import HOOKS_HOST, LoopbackResolver
from pgs.devissuer.issuer import development_issuer
from pgs.devissuer.people import Person
from pgs.domain.invites import Invite
from pgs.domain.members import PLATFORM
from pgs.domain.totp import code_at
from pgs.serve import RunningService, running

ROOT = Path(__file__).resolve().parent.parent
FUZZ = ROOT / ".venv-fuzz"
RATE = 1_000_000
GAME = "tic-tac-toe"
ADMIN = Person("ada", "Ada", "ops@acme.example")
SURFACES = {"Partner": 5, "Game": 2, "Admin": 5}
"""The tags of the document, each with its share of the time."""

NOT_CALLED = {
    "/game/socket": "a WebSocket; tests/http/test_sockets_protocol.py sends it invalid frames",
    "/partner/admin/live": "a stream that lasts 50 seconds; tests/journeys/test_admin_live.py",
}
"""Paths that are left out, with the reason."""

NOT_INSTALLED = 3

LEFT_OUT = {
    "negative_data_rejection": "unknown fields and parameters are ignored, as the contract says, "
    "and many values are judged by rules that a schema cannot state",
    "positive_data_acceptance": "a text that fits its schema may still be no id of this account",
    "missing_required_header": "the key comes before everything else, so its answer is a 401",
    "unsupported_method": "methods are refused before the key, which the check takes for a leak",
    "object_level_authorization": "one partner calls; other tests call as two",
}
"""Checks that do not fit the interface, with the reason."""


class StandingClock:
    """A clock that stands still at the time at which it was made."""

    def __init__(self) -> None:
        self._ms = time.time_ns() // 1_000_000

    def now(self) -> int:
        return self._ms // 1000

    def now_ms(self) -> int:
        return self._ms

    real, real_ms = now, now_ms


async def _partner(core: Core) -> str:
    """Make the partner; return its test key."""
    await core.directory.catalogue().ask(SetTier("test", "test-bronze", "Bronze", 100, 180))
    account = core.directory.partner("acme").account()
    created = await account.ask(CreatePartner("Acme", ADMIN.email))
    assert isinstance(created, PartnerCreated)
    accepted = await account.ask(AcceptInvite(ADMIN.uid, ADMIN.email, created.invite_id))
    assert isinstance(accepted, Invite)
    await account.ask(ChangeLicence(PLATFORM, GAME, "test_on"))
    await account.ask(AgreeTerms(PLATFORM, 1))
    await account.ask(SetRate(PLATFORM, RATE, RATE))
    minted = await account.ask(MintKey(PLATFORM, "test", "fuzzing"))
    assert isinstance(minted, KeyMinted)
    return minted.text


def _post(url: str, token: str, body: object) -> dict[str, str]:
    headers = [("Authorization", f"Bearer {token}")]
    content = json.dumps(body).encode()
    answer = httpcore.request("POST", url, headers=headers, content=content)
    assert answer.status == 200, answer.content
    return dict(json.loads(answer.content))


def _session(base_url: str, key: str) -> str:
    """Return a session token of a player."""
    body = {"gameId": GAME, "playerId": "p-100"}
    return _post(f"{base_url}/partner/sessions", key, body)["sessionToken"]


def _step_up(base_url: str, token: str, now: int) -> None:
    """Enrol an authenticator for the admin and give its code."""
    totp = f"{base_url}/partner/admin/totp"
    secret = _post(f"{totp}/enroll", token, {})["secret"]
    _post(f"{totp}/verify", token, {"code": code_at(secret, now)})


def _install() -> None:
    """Make .venv-fuzz, unless it is newer than its requirements."""
    wanted, mark = ROOT / "requirements-fuzz.txt", FUZZ / "installed"
    if mark.exists() and mark.stat().st_mtime >= wanted.stat().st_mtime:
        return
    subprocess.run([sys.executable, "-m", "venv", str(FUZZ)], check=True)
    pip = [str(FUZZ / "bin" / "python"), "-m", "pip", "install", "--quiet", "--require-hashes"]
    subprocess.run([*pip, "-r", str(wanted)], check=True)
    mark.touch()


def _fuzz(base_url: str, tag: str, token: str, seconds: int) -> int:
    """Run schemathesis on the calls of a surface; return its exit code."""
    command = [
        str(FUZZ / "bin" / "schemathesis"),
        "run",
        f"{base_url}/openapi.json",
        f"--include-tag={tag}",
        *(f"--exclude-path={path}" for path in NOT_CALLED),
        f"--header=Authorization: Bearer {token}",
        f"--max-time={seconds}",
        f"--exclude-checks={','.join(LEFT_OUT)}",
        "--suppress-health-check=all",
        "--continue-on-failure",
        "--request-timeout=40",
        "--warnings=off",
        "--no-color",
    ]
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(command, cwd=folder, check=False).returncode


@asynccontextmanager
async def _service(folder: Path) -> AsyncIterator[tuple[RunningService, dict[str, str]]]:
    """Yield a running service, and the credential for each surface."""
    clock = StandingClock()
    async with development_issuer([ADMIN], clock, SystemRng()) as issuer:
        config = Config(
            data_dir=folder,
            listen="127.0.0.1:0",
            internal_listen="127.0.0.1:0",
            identity_issuer=issuer.issuer,
            identity_client_id=issuer.client_id,
        )
        # No made-up webhook URL is looked up, so nothing leaves this machine.
        resolver = LoopbackResolver(HOOKS_HOST)
        async with running(config, clock=clock, resolver=resolver) as service:
            key = await _partner(service.core)
            session = await trio.to_thread.run_sync(_session, service.base_url, key)
            token = issuer.mint_token(ADMIN)
            await trio.to_thread.run_sync(_step_up, service.base_url, token, clock.now())
            yield service, {"Partner": key, "Game": session, "Admin": token}


async def _run(folder: Path, seconds: int, surfaces: list[str]) -> int:
    async with _service(folder) as (service, credentials):
        worst = 0
        for tag in surfaces:
            share = seconds * SURFACES[tag] // sum(SURFACES[each] for each in surfaces)
            code = await trio.to_thread.run_sync(
                _fuzz, service.base_url, tag, credentials[tag], max(share, 1)
            )
            worst = max(worst, code)
        return worst


def main(
    seconds: Annotated[int, typer.Option(min=4, help="How long to send calls.")] = 60,
    surface: Annotated[
        str | None, typer.Option(help="Only this surface: Partner, Game or Admin.")
    ] = None,
) -> None:
    """Fuzz the service; the exit code is 1 if an answer contradicts the document."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    try:
        _install()
    except subprocess.CalledProcessError as error:
        typer.echo(f"schemathesis cannot be installed: {error}", err=True)
        raise typer.Exit(NOT_INSTALLED) from error
    for check, reason in LEFT_OUT.items():
        typer.echo(f"left out: {check}: {reason}")
    for path, reason in NOT_CALLED.items():
        typer.echo(f"not called: {path}: {reason}")
    surfaces = list(SURFACES) if surface is None else [surface]
    with tempfile.TemporaryDirectory() as folder:
        raise typer.Exit(trio.run(_run, Path(folder), seconds, surfaces))


if __name__ == "__main__":
    typer.run(main)
