"""A new partner's steps to a first launch: one operator command, then only the public API.

The service runs as a process.
"""

import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import trio

from pgs.clock import SystemClock, SystemRng
from pgs.devissuer.issuer import development_issuer
from pgs.devissuer.people import Person
from pgs.domain.totp import code_at
from tests.journeys.client import NOTHING, Client, Reply, check_refusal, ok
from tests.journeys.leaks import contents, leaks
from tests.journeys.partners import BOTH, seat_body
from tests.journeys.process import Process

FOUNDER = Person("auth0|founder", "Fay Founder", "Fay@Acme.example")


def pgs(folder: Path, *arguments: str) -> Any:
    """Return the answer of an operator's command, decoded from its `--json`."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PGS_")}
    command = [sys.executable, "-m", "pgs", *arguments, "--json", "--data", str(folder)]
    done = subprocess.run(
        command, env=clean, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    return json.loads(done.stdout)


async def test_a_new_partner_gets_to_its_first_session_through_the_public_api_alone(
    tmp_path: Path,
) -> None:
    folder, clock = tmp_path / "data", SystemClock()
    async with development_issuer([FOUNDER], clock, SystemRng()) as issuer:
        process = Process(
            folder, PGS_IDENTITY_ISSUER=issuer.issuer, PGS_IDENTITY_CLIENT_ID=issuer.client_id
        )
        client = Client(process.base_url)
        token = issuer.mint_token(FOUNDER)

        async def call(
            method: str, path: str, body: object = NOTHING, credential: str = token
        ) -> Reply:
            return await client.call(method, f"/partner/{path}", credential, body)

        async def done(
            method: str, path: str, body: object = NOTHING, credential: str = token
        ) -> Any:
            return ok(await call(method, path, body, credential))

        try:
            await trio.to_thread.run_sync(process.start)
            created = await trio.to_thread.run_sync(
                partial(
                    pgs,
                    folder,
                    "partner",
                    "create",
                    "acme",
                    "--name",
                    "Acme",
                    "--admin-email",
                    "fay@acme.example",
                )
            )

            # Nobody is a member yet.
            check_refusal(await call("GET", "admin/account"), 403, "not_a_partner_admin")
            accepted = await done("POST", f"admin/invites/{created['inviteId']}/accept")
            assert (accepted["status"], accepted["role"]) == ("accepted", "admin")
            account = await done("GET", "admin/account")
            assert (account["partnerId"], account["role"], account["uid"], account["active"]) == (
                "acme",
                "admin",
                FOUNDER.uid,
                True,
            )
            assert account["stepUp"] == {"enrolled": False}
            assert account["rakeTerms"] == {"offeredVersion": 1}
            assert (await done("GET", "admin/keys"))["keys"] == []

            # Only members with an authenticator may create keys.
            new_key = {"environment": "test", "label": "first"}
            check_refusal(await call("POST", "admin/keys", new_key), 403, "totp_not_enrolled")
            enrolled = await done("POST", "admin/totp/enroll")
            assert enrolled["secret"] in enrolled["otpauthUri"]
            assert enrolled["qrSvg"].startswith("<svg")
            check_refusal(await call("POST", "admin/keys", new_key), 403, "totp_not_enrolled")
            opened = await done(
                "POST", "admin/totp/verify", {"code": code_at(enrolled["secret"], clock.now())}
            )
            assert opened["stepUpUntil"] > opened["freshUntil"] > clock.now()
            key = (await done("POST", "admin/keys", new_key))["apiKey"]

            # The key works at once. A session still needs a game, and a seat the terms.
            me = await done("GET", "me", credential=key)
            assert (me["partnerId"], me["environment"], me["games"]) == ("acme", "test", [])
            session = {"gameId": BOTH, "playerId": "p-1"}
            check_refusal(await call("POST", "sessions", session, key), 403, "game_not_licensed")
            assert (await done("POST", f"admin/games/{BOTH}/test"))["test"] is True
            minted = await done("POST", "sessions", session, key)
            assert minted["playerUid"] == "ptr:test:acme:p-1"
            assert (
                ok(await client.call("GET", "/game/session", minted["sessionToken"]))["playerId"]
                == "p-1"
            )

            # Tiers belong to the platform; the partner sets up everything else that a launch needs.
            numbers = ("--environment", "test", "--floor", "100", "--prize", "180")
            await trio.to_thread.run_sync(partial(pgs, folder, "tier", "set", "bronze", *numbers))
            check_refusal(
                await call("POST", "matches", seat_body("p-1", "one"), key),
                403,
                "rake_terms_not_agreed",
            )
            assert (await done("POST", "admin/rake-terms", {"version": 1}))["rakeTerms"][
                "agreedVersion"
            ] == 1
            assert (await done("POST", "matches", seat_body("p-1", "one"), key))[
                "status"
            ] == "waiting"
            assert (await done("POST", "matches", seat_body("p-2", "two"), key))[
                "status"
            ] == "matched"

            # Everything is on disk, including the open window, so a power cut loses nothing.
            await trio.to_thread.run_sync(partial(process.stop, signal.SIGKILL))
            await trio.to_thread.run_sync(process.start)
            assert (await done("POST", "sessions", session, key))["playerId"] == "p-1"
            after = await done("GET", "admin/account")
            assert (after["stepUp"]["until"], after["rakeTerms"]["agreedVersion"]) == (
                opened["stepUpUntil"],
                1,
            )
            check_refusal(
                await call(
                    "POST",
                    "admin/totp/verify",
                    {"code": code_at(enrolled["secret"], opened["stepUpUntil"] - 900)},
                ),
                403,
                "invalid_code",
            )
            log = [
                (event["actor"], event["action"])
                for event in (await done("GET", "admin/events"))["events"]
            ][::-1]
            assert log == [
                ("platform", "account.created"),
                (FOUNDER.uid, "invite.accepted"),
                (FOUNDER.uid, "totp.enrolled"),
                (FOUNDER.uid, "totp.activated"),
                (FOUNDER.uid, "key.created"),
                (FOUNDER.uid, "game.test_enabled"),
                (FOUNDER.uid, "rake_terms.agreed"),
            ]
            assert (await trio.to_thread.run_sync(process.stop))[0] == 0
        finally:
            await client.aclose()
            await trio.to_thread.run_sync(process.end)
    secrets = {
        "key": key,
        "totp": enrolled["secret"],
        "identity": token,
        "session": minted["sessionToken"],
    }
    assert (
        leaks(
            secrets,
            contents(folder) | {"log": process.log.read_bytes(), "said": process.said.encode()},
        )
        == []
    )


async def test_without_an_issuer_the_start_says_that_nobody_can_sign_in(tmp_path: Path) -> None:
    process = Process(tmp_path / "data")
    try:
        await trio.to_thread.run_sync(process.start)
        assert (await trio.to_thread.run_sync(process.stop))[0] == 0
    finally:
        await trio.to_thread.run_sync(process.end)
    lines = [json.loads(line) for line in process.log.read_text().splitlines()]
    (line,) = (line for line in lines if line["event"] == "no_identity_issuer")
    assert (line["level"], "PGS_IDENTITY_ISSUER" in line["next_step"]) == ("warning", True)
