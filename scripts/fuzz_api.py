#!/usr/bin/env python3
"""Sends the service unusual calls, which schemathesis makes from /openapi.json.

    scripts/fuzz_api.py --seconds 60

It starts the service with an empty data folder and a partner whose rate is raised, and sends calls
with that partner's key and with a player's session token: examples, edge cases, random values and
chains of calls. The exit code is 1 if an answer breaks the document or is a 5xx, and 3 if
schemathesis cannot be installed. It is installed in .venv-fuzz, from requirements-fuzz.txt, so that
its many packages stay out of .venv. The admin API is not called: its sensitive calls need codes.
"""

import in_venv  # noqa: F401  first: the packages below are installed in .venv

# isort: split

import json
import logging
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import httpcore
import structlog
import trio
import typer

from pgs.actors.core import Core
from pgs.actors.messages.account.keys import KeyMinted, MintKey
from pgs.actors.messages.account.lifecycle import CreatePartner
from pgs.actors.messages.account.settings import AgreeTerms, ChangeLicence, SetRate
from pgs.actors.messages.catalogue import SetTier
from pgs.config import Config
from pgs.domain.members import PLATFORM
from pgs.serve import running

ROOT = Path(__file__).resolve().parent.parent
FUZZ = ROOT / ".venv-fuzz"
RATE = 1_000_000
GAME = "tic-tac-toe"
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


async def _partner(core: Core) -> str:
    """Make the partner; return its test key."""
    await core.directory.catalogue().ask(SetTier("test", "test-bronze", "Bronze", 100, 180))
    account = core.directory.partner("acme").account()
    await account.ask(CreatePartner("Acme", "ops@acme.example"))
    await account.ask(ChangeLicence(PLATFORM, GAME, "test_on"))
    await account.ask(AgreeTerms(PLATFORM, 1))
    await account.ask(SetRate(PLATFORM, RATE, RATE))
    minted = await account.ask(MintKey(PLATFORM, "test", "fuzzing"))
    assert isinstance(minted, KeyMinted)
    return minted.text


def _session(base_url: str, key: str) -> str:
    """Return a session token of a player."""
    body = json.dumps({"gameId": GAME, "playerId": "p-100"}).encode()
    headers = [("Authorization", f"Bearer {key}")]
    answer = httpcore.request("POST", f"{base_url}/partner/sessions", headers=headers, content=body)
    return str(json.loads(answer.content)["sessionToken"])


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
        "--exclude-path=/game/socket",
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


async def _run(folder: Path, seconds: int) -> int:
    config = Config(data_dir=folder, listen="127.0.0.1:0", internal_listen="127.0.0.1:0")
    async with running(config) as service:
        key = await _partner(service.core)
        token = await trio.to_thread.run_sync(_session, service.base_url, key)
        worst = 0
        for tag, credential in (("Partner", key), ("Game", token)):
            share = seconds * 3 // 4 if tag == "Partner" else seconds - seconds * 3 // 4
            code = await trio.to_thread.run_sync(_fuzz, service.base_url, tag, credential, share)
            worst = max(worst, code)
        return worst


def main(
    seconds: Annotated[int, typer.Option(min=4, help="How long to send calls.")] = 60,
) -> None:
    """Fuzz the service; the exit code is 1 if an answer breaks the document."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    try:
        _install()
    except subprocess.CalledProcessError as error:
        typer.echo(f"schemathesis cannot be installed: {error}", err=True)
        raise typer.Exit(NOT_INSTALLED) from error
    for check, reason in LEFT_OUT.items():
        typer.echo(f"left out: {check}: {reason}")
    with tempfile.TemporaryDirectory() as folder:
        raise typer.Exit(trio.run(_run, Path(folder), seconds))


if __name__ == "__main__":
    typer.run(main)
