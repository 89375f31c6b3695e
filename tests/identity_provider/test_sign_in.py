"""Signing in with a certified provider, npm `oidc-provider`, and with each wrong setting."""

import base64
import hashlib
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import HTTPCookieProcessor, HTTPRedirectHandler, Request, build_opener

import pytest
import trio
from structlog.testing import capture_logs

from pgs.clock import SystemClock
from pgs.domain.errors import refuse
from pgs.http.identity.tokens import Identity
from pgs.http.identity.verifier import IdentityVerifier
from pgs.http.outbound.fetch import JsonClient
from tests.conventions.tree import ROOT
from tests.journeys.client import check_refusal
from tests.journeys.process import free_port
from tests.journeys.service import in_process, until
from tests.patience import PATIENCE_S
from tests.tools import do_without, find_tool

pytestmark = pytest.mark.slow

CALLBACK: Final = "http://127.0.0.1/callback"
VERIFIER: Final = "a-code-verifier-of-at-least-forty-three-characters"
REFUSED = refuse("sign_in_required")


class Issuer:
    """A running provider. `sign_in` goes through its pages as a browser does."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer

    def sign_in(self) -> dict[str, Any]:
        """Return the answer of the token endpoint after a sign-in with PKCE."""
        digest = hashlib.sha256(VERIFIER.encode()).digest()
        query = urlencode(
            {
                "client_id": "portal",
                "response_type": "code",
                "scope": "openid email",
                "redirect_uri": CALLBACK,
                "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
                "code_challenge_method": "S256",
            }
        )
        form = {
            "grant_type": "authorization_code",
            "client_id": "portal",
            "code": parse_qs(urlsplit(self._callback(query)).query)["code"][0],
            "redirect_uri": CALLBACK,
            "code_verifier": VERIFIER,
        }
        request = Request(f"{self.issuer}/token", urlencode(form).encode())  # noqa: S310  loopback
        with build_opener().open(request, timeout=PATIENCE_S) as response:
            answer: dict[str, Any] = json.load(response)
        return answer

    def _callback(self, query: str) -> str:
        """Return the address to which the provider sends the browser at the end."""
        browser = build_opener(HTTPCookieProcessor(CookieJar()), _UntilCallback())
        with pytest.raises(HTTPError) as stopped:  # the redirect that is not followed
            browser.open(f"{self.issuer}/auth?{query}", timeout=PATIENCE_S)
        location = str(stopped.value.headers["Location"])
        stopped.value.close()
        assert location.startswith(CALLBACK), location
        return location


class _UntilCallback(HTTPRedirectHandler):
    """Follows redirects, but not the last one: nothing listens at the callback."""

    def redirect_request(self, *args: Any) -> Request | None:
        return None if args[-1].startswith(CALLBACK) else super().redirect_request(*args)


@contextmanager
def provider(*options: str) -> Iterator[Issuer]:
    """Run a provider for a block."""
    own = ROOT / ".venv" / "bin" / "node"  # there if the machine's is missing or too old
    node = str(own) if own.exists() else find_tool("node")
    installed = subprocess.run(
        [ROOT / "scripts" / "identity_provider"], capture_output=True, check=False, timeout=300
    )
    if installed.returncode:
        do_without(
            f"the packages of oidc-provider cannot be installed: {installed.stderr[-300:]!r}"
        )
    process = subprocess.Popen(
        [node, ROOT / "tests" / "identity_provider" / "server.js", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = next(text for text in process.stdout if text.startswith("issuer "))
        yield Issuer(line.split()[1])
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    """A provider whose ID tokens have an e-mail address."""
    with provider("--email-in-tokens") as running:
        yield running


def verifier(issuer: str, audience: str = "portal", client_id: str = "portal") -> IdentityVerifier:
    return IdentityVerifier(
        issuer, audience, None, JsonClient().get, SystemClock(), client_id=client_id
    )


async def fault_of(checked: IdentityVerifier, token: str) -> str:
    """Return the fault that is logged for a token."""
    with capture_logs() as lines:
        assert await checked.verify(token) == REFUSED
    (line,) = (line for line in lines if line["event"] == "identity_refused")
    return str(line["fault"])


async def test_a_sign_in_at_the_provider_reaches_the_admin_api(
    issuer: Issuer, tmp_path: Path
) -> None:
    answer = await trio.to_thread.run_sync(issuer.sign_in)
    async with in_process(
        tmp_path, identity_issuer=issuer.issuer, identity_client_id="portal"
    ) as service:
        call = await service.public.call("GET", "/partner/admin/account", answer["id_token"])
        check_refusal(call, 403, "not_a_partner_admin")
        call = await service.public.call("GET", "/partner/admin/account", answer["access_token"])
        check_refusal(call, 401, "sign_in_required")


async def test_two_sign_ins_are_told_apart(issuer: Issuer) -> None:
    checked = verifier(issuer.issuer)
    first = (await trio.to_thread.run_sync(issuer.sign_in))["id_token"]
    # This provider tells sign-ins apart by `auth_time`, so they must not share a second.
    clock, second = SystemClock(), SystemClock().now()
    await until(lambda: clock.now() > second)
    other = (await trio.to_thread.run_sync(issuer.sign_in))["id_token"]
    people = [await checked.verify(token) for token in (first, other, first)]
    found = [person.sign_in for person in people if isinstance(person, Identity)]
    assert [found[0] == found[1], found[0] == found[2]] == [False, True]


async def test_each_wrong_setting_says_what_is_wrong(issuer: Issuer) -> None:
    answer = await trio.to_thread.run_sync(issuer.sign_in)
    token, here = answer["id_token"], issuer.issuer
    assert await fault_of(verifier(here), answer["access_token"]) == "not_a_jwt"
    assert await fault_of(verifier(here, audience="https://api.example"), token) == "audience"
    assert await fault_of(verifier(f"{here}/"), token) == "issuer_slash"
    assert await fault_of(verifier("https://id.example"), token) == "issuer"
    changed = token[:-4] + ("AAAA" if token[-4:] != "AAAA" else "BBBB")
    assert await fault_of(verifier(here), changed) in ("signature", "malformed")


async def test_the_providers_default_configuration_says_that_the_address_is_missing() -> None:
    with provider() as plain:
        answer = await trio.to_thread.run_sync(plain.sign_in)
        assert await fault_of(verifier(plain.issuer), answer["id_token"]) == "email_missing"


async def test_a_slash_or_an_unreachable_issuer_is_reported_at_the_start(
    issuer: Issuer, tmp_path: Path
) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    for number, (wrong, said) in enumerate(
        ((f"{issuer.issuer}/", "differs only by the slash"), (nowhere, "no "))
    ):
        with capture_logs() as lines:
            async with in_process(
                tmp_path / str(number), identity_issuer=wrong, identity_client_id="portal"
            ) as service:
                client = service.internal

                async def told() -> bool:
                    _, body = await client.get("/internal/readyz")  # noqa: B023  used at once
                    return said in json.loads(body).get("identity", "")  # noqa: B023  as above

                await until(told)
        assert "identity_keys_failed" in [line["event"] for line in lines]
