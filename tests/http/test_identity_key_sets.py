"""Which keys of an issuer serve which tokens. Time stands still at `START`."""

import itertools

import pytest
from trio.testing import MockClock

from pgs.http.identity.jwks import read_keys
from pgs.http.identity.tokens import (
    Identity,
)
from tests.http.identity import (
    ALGORITHMS,
    JWKS_URL,
    Web,
    claims,
    jwk,
    key,
    key_set,
    part,
    sign,
    token,
    verifier,
)
from tests.http.identity_tokens import (
    ANN,
    HEADER,
    REFUSED,
    verify,
)
from tests.virtual import START


@pytest.mark.parametrize("alg", ["PS256", "RS256"])
@pytest.mark.parametrize("named", [None, "PS256", "RS256"])
async def test_an_rsa_key_serves_the_algorithm_that_it_names_and_both_if_it_names_none(
    alg: str, named: str | None, mock_clock: MockClock
) -> None:
    web = Web(**{JWKS_URL: key_set(jwk("RS256", kid=f"{alg}-first", alg=named))})
    assert await verify(token(alg), web) == (ANN if named in (None, alg) else REFUSED)


async def test_es384_and_both_names_of_eddsa_are_accepted(mock_clock: MockClock) -> None:
    assert await verify(token("ES384"), Web(**{JWKS_URL: key_set(jwk("ES384"))})) == ANN
    newer = sign({"alg": "Ed25519", "kid": "EdDSA-first"}, claims(), "Ed25519", key("EdDSA"))
    for name in (None, "EdDSA", "Ed25519"):
        web = Web(**{JWKS_URL: key_set(jwk("EdDSA", alg=name))})
        assert await verify(newer, web) == ANN
        assert await verify(token("EdDSA"), web) == ANN


async def test_a_sign_in_is_identified_by_sid_then_auth_time_then_jti_then_the_token_itself(
    mock_clock: MockClock,
) -> None:
    async def sign_in(**of: object) -> str:
        payload = claims(**{"sid": None, **of})
        found = await verify(sign(HEADER, payload, "RS256", key("RS256")))
        assert isinstance(found, Identity)
        return found.sign_in

    of_a_sid = await sign_in(sid="a", auth_time=5, jti="x")
    assert of_a_sid == await sign_in(sid="a", auth_time=6, jti="y", exp=START + 60)
    assert of_a_sid != await sign_in(sid="b", auth_time=5, jti="x")
    assert await sign_in(auth_time=5, jti="x") == await sign_in(auth_time=5, jti="y")
    assert await sign_in(sid=["odd"], jti="x") == await sign_in(sid="", jti="x", nonce="n")
    bare = [await sign_in(), await sign_in(exp=START + 60), await sign_in(jti="a")]
    assert len({*bare, of_a_sid}) == 4
    assert await sign_in() == bare[0]


async def test_every_change_of_one_character_is_refused(mock_clock: MockClock) -> None:
    good, checked = token("ES256"), verifier(Web())
    assert await checked.verify(good) == ANN
    for index in range(len(good)):
        other = "A" if good[index] != "A" else "B"
        assert await checked.verify(good[:index] + other + good[index + 1 :]) == REFUSED
        assert await checked.verify(good[:index] + good[index + 1 :]) == REFUSED
        assert await checked.verify(good[:index]) == REFUSED


# Keys that are published but cannot be used

UNUSABLE: dict[str, dict[str, object]] = {
    "for encryption": jwk("RS256", use="enc"),
    "for another algorithm": jwk("RS256", alg="RS512"),
    "for an algorithm of its family": jwk("EdDSA", alg="Ed448"),
    "for signing alone": jwk("RS256", key_ops=["sign"]),
    "operations that are no list": jwk("RS256", key_ops="verify"),
    "private": {**key("RS256").as_dict(private=True), "kid": "RS256-first"},
    "symmetric": {"kty": "oct", "k": "c2VjcmV0", "kid": "RS256-first"},
    "too short": jwk("RS256", n=part(b"\xc1" + bytes(126) + b"\x01")),
    "too long": jwk("RS256", n=part(b"\xc1" + bytes(2000) + b"\x01")),
    "an even exponent": jwk("RS256", e=part(b"\x02")),
    "no exponent": jwk("RS256", e=None),
    "a modulus that is no base64": jwk("RS256", n="*" * 342),
    "a modulus that is a number": jwk("RS256", n=65537),
    "another curve": jwk("ES512"),
    "a point off its curve": jwk("ES256", x=part(bytes(32))),
    "another Edwards curve": jwk("Ed448"),
    "half an Ed25519 key": jwk("EdDSA", x=part(bytes(16))),
    "no type": jwk("RS256", kty=None),
    "a type that is a list": jwk("RS256", kty=["RSA"]),
    "an id that is a number": jwk("RS256", kid=7),
}


@pytest.mark.parametrize("name", UNUSABLE)
async def test_an_unusable_key_is_ignored_and_the_others_still_work(
    name: str, mock_clock: MockClock
) -> None:
    good = jwk("RS256", "second")
    assert read_keys(key_set(UNUSABLE[name])) == ()
    assert [one.kid for one in read_keys(key_set(UNUSABLE[name], good))] == ["RS256-second"]


@pytest.mark.parametrize(
    "document", [{}, {"keys": None}, {"keys": {}}, {"keys": [None, 1, "k", []]}, {"keys": "RSA"}]
)
def test_a_document_without_keys_holds_none(document: dict[str, object]) -> None:
    assert read_keys(document) == ()


def test_only_the_first_keys_of_a_large_set_are_used() -> None:
    many = [jwk("EdDSA", kid=str(index)) for index in range(100)]
    assert [one.kid for one in read_keys(key_set(*many))] == [str(index) for index in range(32)]


@pytest.mark.parametrize(("alg", "other"), list(itertools.permutations(ALGORITHMS, 2)))
async def test_a_key_serves_its_own_algorithm_only(
    alg: str, other: str, mock_clock: MockClock
) -> None:
    web = Web()
    web.documents = {url: key_set(jwk(alg)) for url in web.documents}
    forged = sign({"alg": other, "kid": f"{alg}-first"}, claims(), other, key(other))
    assert await verify(forged, web) == REFUSED
