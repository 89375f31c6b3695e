"""Bad identity tokens over HTTP: each is refused, and none breaks the service."""

from collections.abc import AsyncIterator

import pytest
import trio

from pgs.domain.roles import ADMIN_RULES
from pgs.http.identity.tokens import TOKEN_MAX
from pgs.http.identity.verifier import IdentityVerifier
from tests.http.identity import AUDIENCE, ISSUER, JWKS_URL, Web, claims, jwk, key, sign, token
from tests.http.identity_tokens import BAD
from tests.journeys.admin_client import AdminClient, open_admin
from tests.journeys.client import Reply, check_refusal, ok
from tests.journeys.places import Place
from tests.patience import PATIENCE_S
from tests.virtual import START

SENDABLE = {
    name: text
    for name, text in BAD.items()
    if text
    and text.isascii()
    and text.isprintable()
    and text == text.strip()
    and len(text) < 10_000
}
"""The bad tokens that an HTTP header can carry unchanged. The others are in `ODD`, or not text."""

MEMBER = "user-1"  # the subject of the good tokens


class FrozenClock:
    """A clock that stands still, so that the tokens made on import stay valid."""

    def now(self) -> int:
        return START

    def now_ms(self) -> int:
        return START * 1000

    real, real_ms = now, now_ms


@pytest.fixture(scope="module")
def _enough() -> None:
    assert len(SENDABLE) >= 80


@pytest.fixture
async def admin(
    place: Place, monkeypatch: pytest.MonkeyPatch, _enough: None
) -> AsyncIterator[AdminClient]:
    """A service with the issuer of `tests.http.identity` and its first admin.

    Its clock stands still.
    """
    checked = IdentityVerifier(ISSUER, AUDIENCE, JWKS_URL, Web().fetch, FrozenClock())
    monkeypatch.setattr("pgs.serve.make_verifier", lambda config, core: checked)
    async with open_admin(place) as opened:
        await opened.add_member(MEMBER, "admin")
        yield opened


async def read_account(admin: AdminClient, *values: str | bytes, scheme: bool = True) -> Reply:
    """Read the account with these values of the header Authorization; return the answer."""
    sent = [
        value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
        for value in values
    ]
    headers = [("Authorization", b"Bearer " + value if scheme else value) for value in sent]
    return await admin.service.public.call("GET", "/partner/admin/account", headers=headers)


async def test_every_bad_token_is_refused_with_sign_in_required(admin: AdminClient) -> None:
    assert ok(await read_account(admin, token()))["uid"] == MEMBER
    for name, text in SENDABLE.items():
        reply = await read_account(admin, text)
        assert (reply.status, reply.reason) == (401, "sign_in_required"), name
        assert (reply.version, reply.header("www-authenticate")) == (1, "Bearer"), name
    assert ok(await read_account(admin, token()))["uid"] == MEMBER, "a bad token affected it"


ODD: dict[str, tuple[bool, tuple[str | bytes, ...]]] = {
    "two headers": (True, (token(), token())),
    "two headers, the first of them bad": (True, ("x", token())),
    "two tokens in one header": (True, (f"{token()}, Bearer {token()}",)),
    "two tokens with a space": (True, (f"{token()} {token()}",)),
    "no scheme": (False, (token(),)),
    "the scheme alone": (False, ("Bearer",)),
    "the scheme twice": (True, (f"Bearer {token()}",)),
    "another scheme": (False, (f"Basic {token()}",)),
    "a DPoP token": (False, (f"DPoP {token()}",)),
    "UTF-8": (True, (token().replace("e", "é", 1),)),
    "Latin-1": (True, (token().encode().replace(b"e", b"\xe9", 1),)),
    "bytes that are no text": (True, (b"\xff\xfe\xfd",)),
    "full-width letters": (True, (token()[:-1] + "\uff21",)),
    "a tab in the middle": (True, (token().replace(".", ".\t", 1),)),
    "quotes": (True, (f'"{token()}"',)),
    "oversized": (True, (token(filler="x" * TOKEN_MAX),)),
    "an API key": (True, ("pgs_test_" + "A" * 46,)),
    "a session token": (True, ("pgs1.000.k.e30.AAAA",)),
}


async def test_every_odd_header_is_refused(admin: AdminClient) -> None:
    for name, (scheme, values) in ODD.items():
        reply = await read_account(admin, *values, scheme=scheme)
        assert (reply.status, reply.reason) == (401, "sign_in_required"), name
        check_refusal(reply, 401, "sign_in_required")
    assert ok(await read_account(admin, token()))["uid"] == MEMBER, "an odd header affected it"


async def test_the_scheme_may_be_in_any_case_and_followed_by_several_spaces(
    admin: AdminClient,
) -> None:
    for value in (f"bearer {token()}", f"BEARER {token()}"):
        assert ok(await read_account(admin, value, scheme=False))["uid"] == MEMBER


async def test_an_oversized_header_ends_only_its_own_connection(
    admin: AdminClient,
) -> None:
    port = int(admin.service.public.next_url.rpartition(":")[2])
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    async with stream:
        head = b"GET /partner/admin/account HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
        received = b""
        with trio.fail_after(PATIENCE_S):
            try:
                await stream.send_all(head + b"A" * 5_000_000)
                async for piece in stream:
                    received += piece
            except trio.BrokenResourceError:
                pass
    assert received[:12] in (b"", b"HTTP/1.1 400", b"HTTP/1.1 431")
    assert (await read_account(admin, token(filler="x" * 20_000))).status == 431
    assert ok(await read_account(admin, token()))["uid"] == MEMBER


async def test_every_admin_call_refuses_a_forged_token(admin: AdminClient) -> None:
    forged = sign({"alg": "RS256", "kid": "RS256-first"}, claims(), "RS256", key("RS256", "theirs"))
    with_key = token("RS256", "theirs", header={"jwk": jwk("RS256", "theirs"), "kid": None})
    before = ok(await read_account(admin, token()))
    for rule in ADMIN_RULES:
        path = rule.path.replace("{env}", "test")
        path = "/".join("x" if word.startswith("{") else word for word in path.split("/"))
        for text in (forged, with_key):
            reply = await admin.service.public.call(
                rule.method, path, text, content=b"{}" if rule.method != "GET" else None
            )
            assert (reply.status, reply.json.get("reason")) in {
                (401, "sign_in_required"),
                (404, None),
                (405, None),
            }, (
                rule.path,
                reply.status,
            )
    assert ok(await read_account(admin, token())) == before
