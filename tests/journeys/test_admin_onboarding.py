"""A new partner's steps to a first launch: one operator command, then only the public API.

Each node runs as a process.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import trio

from pgs.clock import SystemClock, SystemRng
from pgs.devissuer.issuer import development_issuer
from pgs.devissuer.people import Person
from pgs.domain.totp import code_at
from pgs.http.api.failures import NO_NODE
from tests.journeys.client import NOTHING, Client, Reply, check_refusal, ok
from tests.journeys.leaks import leaks
from tests.journeys.partners import BOTH, seat_body
from tests.journeys.places import Place
from tests.journeys.process import Process
from tests.patience import PATIENCE_S

T = TypeVar("T")

FOUNDER = Person("auth0|founder", "Fay Founder", "Fay@Acme.example")
SESSION = {"gameId": BOTH, "playerId": "p-1"}


def pgs(folder: Path, *arguments: str) -> Any:
    """Return the answer of an operator's command, decoded from its `--json`."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PGS_")}
    command = [sys.executable, "-m", "pgs", *arguments, "--json", "--data", str(folder)]
    done = subprocess.run(
        command, env=clean, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    return json.loads(done.stdout)


class NewPartner:
    """Takes the steps of a new partner. `secrets` has those that it was given on the way."""

    def __init__(self, processes: Sequence[Process], token: str) -> None:
        self.client = Client(*(process.base_url for process in processes))
        self._machine = processes[0].folder
        self.secrets = {"identity": token}
        self.step_up_until = 0

    async def call(
        self, method: str, path: str, body: object = NOTHING, credential: str = "identity"
    ) -> Reply:
        return await self.reply(method, f"/partner/{path}", self.secrets[credential], body)

    async def reply(self, *call: Any) -> Reply:
        """Return the answer to a call, which is repeated while its partner has no owner."""
        with trio.fail_after(PATIENCE_S):
            while True:
                reply = await self.client.call(*call)
                if NO_NODE.encode() not in reply.content:
                    return reply
                await trio.sleep(0.05)

    async def done(
        self, method: str, path: str, body: object = NOTHING, credential: str = "identity"
    ) -> Any:
        return ok(await self.call(method, path, body, credential))

    async def operate(self, *arguments: str) -> Any:
        return await trio.to_thread.run_sync(partial(pgs, self._machine, *arguments))


async def test_a_new_partner_gets_to_its_first_session_through_the_public_api_alone(
    place: Place,
) -> None:
    place, clock = place / "data", SystemClock()
    async with development_issuer([FOUNDER], clock, SystemRng()) as issuer:
        processes = place.processes(
            PGS_IDENTITY_ISSUER=issuer.issuer, PGS_IDENTITY_CLIENT_ID=issuer.client_id
        )
        partner = NewPartner(processes, issuer.mint_token(FOUNDER))
        try:
            await in_turn(processes, Process.start)
            await accept_the_invite(partner)
            await create_a_key(partner, clock)
            await mint_a_session(partner)
            await take_seats(partner)
            await in_turn(processes, partial(Process.stop, number=signal.SIGKILL))
            await in_turn(processes, Process.start)
            await check_that_nothing_is_lost(partner)
            ended = await in_turn(processes, Process.stop)
            assert [code for code, _ in ended] == [0] * len(processes)
        finally:
            await partner.client.aclose()
            await in_turn(processes, Process.end)
    assert partner.secrets.keys() == {"identity", "totp", "key", "session"}
    written = {
        f"{what} of {process.folder.name}": content
        for process in processes
        for what, content in {
            "log": process.log.read_bytes(),
            "said": process.said.encode(),
        }.items()
    }
    assert leaks(partner.secrets, place.contents() | written) == []


async def in_turn(processes: Sequence[Process], work: Callable[[Process], T]) -> list[T]:
    """Return what some work returns for each process; the work may wait for the process."""
    return [await trio.to_thread.run_sync(work, process) for process in processes]


async def accept_the_invite(partner: NewPartner) -> None:
    """Let the platform create the account, and its founder, who is no member yet, join it."""
    created = await partner.operate(
        "partner", "create", "acme", "--name", "Acme", "--admin-email", "fay@acme.example"
    )
    check_refusal(await partner.call("GET", "admin/account"), 403, "not_a_partner_admin")
    accepted = await partner.done("POST", f"admin/invites/{created['inviteId']}/accept")
    assert (accepted["status"], accepted["role"]) == ("accepted", "admin")
    account = await partner.done("GET", "admin/account")
    assert (account["partnerId"], account["role"], account["uid"], account["active"]) == (
        "acme",
        "admin",
        FOUNDER.uid,
        True,
    )
    assert account["stepUp"] == {"enrolled": False}
    assert account["rakeTerms"] == {"offeredVersion": 1}
    assert (await partner.done("GET", "admin/keys"))["keys"] == []


async def create_a_key(partner: NewPartner, clock: SystemClock) -> None:
    """Enrol an authenticator, which creating a key needs. The key works at once."""
    new_key = {"environment": "test", "label": "first"}
    check_refusal(await partner.call("POST", "admin/keys", new_key), 403, "totp_not_enrolled")
    assert (await partner.done("POST", "admin/totp/enroll"))["replacesPending"] is False
    enrolled = await partner.done("POST", "admin/totp/enroll")
    assert enrolled["replacesPending"] is True
    assert enrolled["secret"] in enrolled["otpauthUri"]
    assert enrolled["qrSvg"].startswith("<svg")
    check_refusal(await partner.call("POST", "admin/keys", new_key), 403, "totp_not_enrolled")
    code = {"code": code_at(enrolled["secret"], clock.now())}
    opened = await partner.done("POST", "admin/totp/verify", code)
    assert opened["stepUpUntil"] > opened["freshUntil"] > clock.now()
    key = (await partner.done("POST", "admin/keys", new_key))["apiKey"]
    partner.secrets |= {"totp": enrolled["secret"], "key": key}
    partner.step_up_until = opened["stepUpUntil"]
    me = await partner.done("GET", "me", credential="key")
    assert (me["partnerId"], me["environment"], me["games"]) == ("acme", "test", [])


async def mint_a_session(partner: NewPartner) -> None:
    """Mint a session, which needs a game that is on in test."""
    refused = await partner.call("POST", "sessions", SESSION, "key")
    check_refusal(refused, 403, "game_not_licensed")
    assert (await partner.done("POST", f"admin/games/{BOTH}/test"))["test"] is True
    minted = await partner.done("POST", "sessions", SESSION, "key")
    assert minted["playerUid"] == "ptr:test:acme:p-1"
    partner.secrets["session"] = minted["sessionToken"]
    session = ok(await partner.reply("GET", "/game/session", minted["sessionToken"]))
    assert session["playerId"] == "p-1"


async def take_seats(partner: NewPartner) -> None:
    """Take two seats, which need the partner's consent to the terms and a tier of the platform."""
    numbers = ("--environment", "test", "--floor", "100", "--prize", "180")
    await partner.operate("tier", "set", "bronze", *numbers)
    refused = await partner.call("POST", "matches", seat_body("p-1", "one"), "key")
    check_refusal(refused, 403, "rake_terms_not_agreed")
    agreed = await partner.done("POST", "admin/rake-terms", {"version": 1})
    assert agreed["rakeTerms"]["agreedVersion"] == 1
    first = await partner.done("POST", "matches", seat_body("p-1", "one"), "key")
    second = await partner.done("POST", "matches", seat_body("p-2", "two"), "key")
    assert (first["status"], second["status"]) == ("waiting", "matched")


async def check_that_nothing_is_lost(partner: NewPartner) -> None:
    """Check that everything was on disk: the open window, the used code and the event log too."""
    assert (await partner.done("POST", "sessions", SESSION, "key"))["playerId"] == "p-1"
    after = await partner.done("GET", "admin/account")
    assert (after["stepUp"]["until"], after["rakeTerms"]["agreedVersion"]) == (
        partner.step_up_until,
        1,
    )
    used = {"code": code_at(partner.secrets["totp"], partner.step_up_until - 900)}
    check_refusal(await partner.call("POST", "admin/totp/verify", used), 403, "invalid_code")
    events = (await partner.done("GET", "admin/events"))["events"]
    assert [(event["actor"], event["action"]) for event in reversed(events)] == [
        ("platform", "account.created"),
        (FOUNDER.uid, "invite.accepted"),
        (FOUNDER.uid, "totp.enrolled"),
        (FOUNDER.uid, "totp.activated"),
        (FOUNDER.uid, "key.created"),
        (FOUNDER.uid, "game.test_enabled"),
        (FOUNDER.uid, "rake_terms.agreed"),
    ]
