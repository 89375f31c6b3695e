"""Which identity tokens are accepted and which are refused. Time stands still at `START`."""

import itertools
from collections.abc import Callable

import msgspec
import pytest
from joserfc.jwk import RSAKey
from structlog.testing import capture_logs
from trio.testing import MockClock

from pgs.domain.errors import Refusal, refuse
from pgs.http.identity.jwks import read_keys
from pgs.http.identity.tokens import (
    ADVICE,
    ISSUED_AHEAD_S,
    LIFETIME_S,
    NOT_BEFORE_LEEWAY_S,
    TOKEN_MAX,
    Identity,
)
from tests.http.identity import (
    ALGORITHMS,
    AUDIENCE,
    ISSUER,
    JWKS_URL,
    SIGN_IN,
    Web,
    claims,
    jwk,
    key,
    key_set,
    part,
    sign,
    sign_hmac,
    token,
    verifier,
)
from tests.virtual import START

ANN = Identity("user-1", "ann@example.com", START + 3600, SIGN_IN)
REFUSED = refuse("sign_in_required")
HEADER = {"alg": "RS256", "kid": "RS256-first"}


async def _verify(text: str, web: Web | None = None) -> Identity | Refusal:
    return await verifier(web or Web()).verify(text)


def _public_pem() -> bytes:
    signer = key("RS256")
    assert isinstance(signer, RSAKey)
    return signer.as_pem(private=False)


def _hmac_of_public_key(secret: bytes) -> str:
    return sign_hmac({"alg": "HS256", "kid": "RS256-first", "typ": "JWT"}, claims(), secret)


def _with(header: bytes | None = None, payload: bytes | None = None) -> str:
    """Return a token with a good signature over odd bytes."""
    return sign(
        header or b'{"alg":"RS256","kid":"RS256-first"}',
        claims() if payload is None else payload,
        "RS256",
        key("RS256"),
    )


def _parts(change: Callable[[list[str]], object]) -> str:
    parts = token().split(".")
    change(parts)
    return ".".join(parts)


def _claims_text(more: str) -> bytes:
    """Return a good token's claims as JSON text, with further members."""
    return msgspec.json.encode(claims())[:-1] + b"," + more.encode() + b"}"


def _flip(text: str) -> str:
    """Return another signature in canonical base64url."""
    return ("B" if text[0] == "A" else "A") + text[1:]


# Accepted tokens


@pytest.mark.parametrize("alg", ALGORITHMS)
async def test_a_token_of_each_algorithm_is_accepted(alg: str, mock_clock: MockClock) -> None:
    assert await _verify(token(alg)) == ANN


@pytest.mark.parametrize(
    "text",
    [
        token(aud=[AUDIENCE]),
        token(aud=["another", AUDIENCE]),
        token(exp=START + 1),
        token(exp=START + 0.5),
        token(exp=START - 60 + LIFETIME_S),
        token(iat=START + ISSUED_AHEAD_S, exp=START + LIFETIME_S),
        token(nbf=None),
        token(nbf=START + NOT_BEFORE_LEEWAY_S),
        token(iat=None),
        token(header={"typ": None}),
        token(header={"typ": "at+jwt"}),
        token(header={"x5t": "AAAA", "nonce": "whatever"}),
        token(nonce="n", groups=["a", {"b": None}]),
        _with(payload=_claims_text('"deep":' + "[" * 50 + "]" * 50)),
    ],
    ids=[
        "one audience in a list",
        "ours among several",
        "its last second",
        "a fraction of a second",
        "a day",
        "issued within the leeway",
        "no nbf",
        "nbf within the leeway",
        "no iat",
        "no typ",
        "an access token",
        "headers not understood",
        "claims not understood",
        "some nesting",
    ],
)
async def test_a_token_with_unusual_but_valid_members_is_accepted(
    text: str, mock_clock: MockClock
) -> None:
    verified = await _verify(text)
    assert isinstance(verified, Identity)
    assert (verified.uid, verified.email) == (ANN.uid, ANN.email)


@pytest.mark.parametrize("expires_at", [START + 1, START + 0.5])
async def test_an_identity_tells_when_its_token_expires(
    expires_at: int | float, mock_clock: MockClock
) -> None:
    assert await _verify(token(exp=expires_at)) == Identity(ANN.uid, ANN.email, expires_at, SIGN_IN)


@pytest.mark.parametrize("uid", ["a", "u" * 255, "auth0|5f7c", "ünïcode", "0"])
async def test_a_uid_is_any_printable_text_of_up_to_255_characters(
    uid: str, mock_clock: MockClock
) -> None:
    assert await _verify(token(sub=uid)) == Identity(uid, "ann@example.com", START + 3600, SIGN_IN)


async def test_a_token_without_a_kid_is_accepted_where_only_one_key_fits(
    mock_clock: MockClock,
) -> None:
    assert await _verify(token(header={"kid": None})) == ANN
    two = Web()
    two.documents = {url: key_set(jwk("RS256"), jwk("RS256", "second")) for url in two.documents}
    assert await _verify(token(header={"kid": None}), two) == REFUSED
    assert await _verify(token("RS256", "second"), two) == ANN


async def test_keys_of_one_id_are_all_tried(mock_clock: MockClock) -> None:
    web = Web()
    same = [jwk("RS256", name, kid="same") for name in ("first", "second")] + [
        jwk("ES256", kid="same")
    ]
    web.documents = {url: key_set(*same) for url in web.documents}
    for alg, name in (("RS256", "first"), ("RS256", "second"), ("ES256", "first")):
        assert await _verify(token(alg, name, header={"kid": "same"}), web) == ANN


# Refused tokens

BAD = {
    # Shapes
    "nothing": "",
    "no dots": "token",
    "two parts": _parts(lambda parts: parts.pop()),
    "four parts": token() + ".AAAA",
    "five parts, an encrypted token's": "AAAA.AAAA.AAAA.AAAA.AAAA",
    "empty parts": "..",
    "a space before": " " + token(),
    "a line feed after": token() + "\n",
    "the scheme": "Bearer " + token(),
    "NUL": "\0" * 10,
    "not ASCII": token().replace("e", "é", 1),
    "full-width": token()[:-1] + "\uff21",
    "half of a surrogate pair": token() + "\ud800",
    "padding": _parts(lambda parts: parts.__setitem__(1, parts[1] + "=")),
    "base64 of the other alphabet": _parts(lambda parts: parts.__setitem__(2, "+/" + parts[2][2:])),
    "spare bits in the base64": _parts(
        lambda parts: parts.__setitem__(0, part(b'{"alg":"RS256","kid":"RS256-first"} ')[:-1] + "B")
    ),
    "no header": _parts(lambda parts: parts.__setitem__(0, "")),
    "no signature": _parts(lambda parts: parts.__setitem__(2, "")),
    "huge": token(filler="x" * TOKEN_MAX),
    "very huge": "A" * 5_000_000,
    "a million dots": "." * 1_000_000,
    # JSON
    "a header that is no JSON": _with(b"RS256"),
    "a header that is a list": _with(b'["RS256"]'),
    "a header that is a text": _with(b'"RS256"'),
    "a header that is null": _with(b"null"),
    "a header in UTF-16": _with('{"alg":"RS256"}'.encode("utf-16")),
    "a header that is not UTF-8": _with(b'{"alg":"RS256","x":"\xff"}'),
    "a header with a byte order mark": _with(b'\xef\xbb\xbf{"alg":"RS256"}'),
    "a duplicated header": _with(b'{"alg":"RS256","kid":"RS256-first","alg":"RS256"}'),
    "a duplicated header, escaped": _with(b'{"alg":"none","\\u0061lg":"RS256"}'),
    "claims that are a list": _with(payload=b"[]"),
    "claims that are no JSON": _with(payload=b"{"),
    "no claims": _with(payload=b""),
    "duplicated claims": _with(payload=_claims_text('"sub":"user-2"')),
    "duplicated claims further in": _with(payload=_claims_text('"x":{"a":1,"a":2}')),
    "NaN": _with(payload=_claims_text('"x":NaN')),
    "a tower of lists": _with(payload=_claims_text('"x":' + "[" * 5000)),
    "a tower of objects": _with(payload=_claims_text('"x":' + '{"a":' * 1000)),
    "a number of 5,000 digits": _with(payload=_claims_text('"x":' + "9" * 5000)),
    # Algorithms
    "none": f"{part({'alg': 'none', 'kid': 'RS256-first'})}.{part(claims())}.",
    "none with a signature": sign(
        {"alg": "none", "kid": "RS256-first"}, claims(), "RS256", key("RS256")
    ),
    "None": sign({"alg": "None", "kid": "RS256-first"}, claims(), "RS256", key("RS256")),
    "HMAC with the public key's PEM": _hmac_of_public_key(_public_pem()),
    "HMAC with the public key's JSON": _hmac_of_public_key(msgspec.json.encode(jwk("RS256"))),
    "HMAC with the modulus": _hmac_of_public_key(str(jwk("RS256")["n"]).encode()),
    "HMAC called RS256": sign_hmac({"alg": "RS256", "kid": "RS256-first"}, claims(), _public_pem()),
    "RS512": token("RS512", header={"kid": "RS256-first"}),
    "PS512": token("PS512", header={"kid": "RS256-first"}),
    "ES384 with a key that is not published": token("ES384"),
    "lower case": sign({"alg": "rs256", "kid": "RS256-first"}, claims(), "RS256", key("RS256")),
    "no algorithm": sign({"kid": "RS256-first"}, claims(), "RS256", key("RS256")),
    "an algorithm that is a number": sign(
        {"alg": 256, "kid": "RS256-first"}, claims(), "RS256", key("RS256")
    ),
    "an algorithm that is a list": sign(
        {"alg": ["RS256"], "kid": "RS256-first"}, claims(), "RS256", key("RS256")
    ),
    "an RSA key's id with ES256": token("ES256", header={"kid": "RS256-first"}),
    "an EC key's id with RS256": token("RS256", header={"kid": "ES256-first"}),
    "an EC key's id with EdDSA": token("EdDSA", header={"kid": "ES256-first"}),
    # Headers
    "crit": token(header={"crit": ["exp"], "exp": START}),
    "crit, empty": token(header={"crit": []}),
    "crit, null": _with(b'{"alg":"RS256","kid":"RS256-first","crit":null}'),
    "b64": token(header={"b64": False, "crit": ["b64"]}),
    "jku": token(header={"jku": "https://keys.example.com/jwks.json"}),
    "jku, and a key from there": token(
        "RS256", "theirs", header={"jku": "https://evil.example/jwks.json"}
    ),
    "jwk": token("RS256", "theirs", header={"jwk": jwk("RS256", "theirs"), "kid": None}),
    "x5u": token(header={"x5u": "https://evil.example/cert.pem"}),
    "x5c": token(header={"x5c": ["MIIB"]}),
    "a logout token": token(header={"typ": "logout+jwt"}),
    "a type that is a number": token(header={"typ": 1}),
    "an unknown kid": token(header={"kid": "nobody"}),
    "an empty kid": token(header={"kid": ""}),
    "a kid that is a number": token(header={"kid": 1}),
    "a kid that is null": _with(b'{"alg":"RS256","kid":null}'),
    "a kid that is a path": token(header={"kid": "../../dev/null"}),
    "a long kid": token(header={"kid": "k" * 256}),
    "a kid with half of a surrogate pair": _with(b'{"alg":"RS256","kid":"\\ud800"}'),
    # Signatures
    "another's key under our kid": sign(
        {"alg": "RS256", "kid": "RS256-first"}, claims(), "RS256", key("RS256", "theirs")
    ),
    "another's EC key": sign(
        {"alg": "ES256", "kid": "ES256-first"}, claims(), "ES256", key("ES256", "theirs")
    ),
    "another's Ed25519 key": sign(
        {"alg": "EdDSA", "kid": "EdDSA-first"}, claims(), "EdDSA", key("EdDSA", "theirs")
    ),
    "another's key without a kid": sign(
        {"alg": "RS256"}, claims(), "RS256", key("RS256", "theirs")
    ),
    "a signature with a flipped bit": _parts(lambda parts: parts.__setitem__(2, _flip(parts[2]))),
    "a short signature": _parts(lambda parts: parts.__setitem__(2, "AAAA")),
    "a long signature": _parts(lambda parts: parts.__setitem__(2, parts[2] + "AAAA")),
    "an ES256 signature of zeros": ".".join([*token("ES256").split(".")[:2], part(bytes(64))]),
    "an ES256 signature in DER": ".".join(
        [*token("ES256").split(".")[:2], part(bytes.fromhex("3006020101020101"))]
    ),
    "an EdDSA signature of zeros": ".".join([*token("EdDSA").split(".")[:2], part(bytes(64))]),
    "other claims under the signature": _parts(
        lambda parts: parts.__setitem__(1, part(claims(sub="admin")))
    ),
    # Issuer and audience
    "another issuer": token(iss="https://evil.example"),
    "the issuer with a slash more": token(iss=ISSUER + "/"),
    "the issuer in upper case": token(iss=ISSUER.upper()),
    "no issuer": token(iss=None),
    "an issuer in a list": token(iss=[ISSUER]),
    "another audience": token(aud="another"),
    "other audiences": token(aud=["another", "and-another"]),
    "no audience": token(aud=None),
    "an empty audience": token(aud=""),
    "an empty list of audiences": token(aud=[]),
    "an audience within another's name": token(aud=f"{AUDIENCE}-2 {AUDIENCE}"),
    "an audience in an object": token(aud={AUDIENCE: True}),
    "an audience among what is none": token(aud=[AUDIENCE, 1]),
    "an audience in a list in a list": token(aud=[[AUDIENCE]]),
    # Times
    "no expiry": token(exp=None),
    "a day and a second": token(exp=START - 60 + LIFETIME_S + 1),
    "a day and a second without iat": token(iat=None, exp=START + LIFETIME_S + 1),
    "an expiry beyond floats": token(exp=10**4000),
    "issued in the future": token(iat=START + ISSUED_AHEAD_S + 1),
    "an iat that is a text": token(iat=str(START)),
    "expired long ago": token(exp=START - 86_400),
    "expired by one second": token(exp=START - 1),
    "expired this second": token(exp=START),
    "an expiry that is a text": token(exp=str(START + 3600)),
    "an expiry that is true": token(exp=True),
    "an expiry that is null": _with(payload=msgspec.json.encode({**claims(), "exp": None})),
    "an endless expiry": _with(payload=_claims_text('"z":1').replace(b"1800003600", b"1e999")),
    "an expiry in milliseconds, negative": token(exp=-(START + 3600) * 1000),
    "not before in an hour": token(nbf=START + 3600),
    "not before just past the leeway": token(nbf=START + NOT_BEFORE_LEEWAY_S + 1),
    "not before some text": token(nbf="now"),
    "not before true": token(nbf=True),
    "not before null": _with(payload=msgspec.json.encode({**claims(), "nbf": None})),
    # Subject and address
    "an address not verified": token(email_verified=False),
    "an address verified in words": token(email_verified="true"),
    "an address verified as a number": token(email_verified=1),
    "an address verified or not": token(email_verified=None),
    "no address": token(email=None),
    "an empty address": token(email=""),
    "an address that is none": token(email="ann"),
    "an address with a line feed": token(email="ann@example.com\nbcc"),
    "an address with two ats": token(email="ann@example.com@evil.example"),
    "an address in a list": token(email=["ann@example.com"]),
    "a long address": token(email="a" * 250 + "@b.c" + "d"),
    "no subject": token(sub=None),
    "an empty subject": token(sub=""),
    "a subject of 256 characters": token(sub="u" * 256),
    "a subject that is a number": token(sub=1),
    "a subject with NUL": token(sub="user\0"),
    "a subject with half of a surrogate pair": _with(
        payload=_claims_text('"z":1').replace(b"user-1", b"\\ud800")
    ),
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_token_is_refused_without_an_exception(
    name: str, mock_clock: MockClock
) -> None:
    assert await _verify(BAD[name]) == REFUSED


@pytest.mark.parametrize("name", BAD)
async def test_a_token_that_no_key_could_make_valid_is_refused_even_during_an_outage(
    name: str, mock_clock: MockClock
) -> None:
    web = Web()
    web.down = True
    needs_keys = ("kid", "key", "signature", "HMAC called", "an RSA", "an EC")
    refused = await _verify(BAD[name], web)
    assert refused == REFUSED or any(word in name for word in needs_keys)
    assert isinstance(refused, Refusal)


FAULTS: dict[str, str] = {
    "not_a_jwt": "an-opaque-access-token",
    "malformed": token(header={"crit": ["x"]}),
    "algorithm": token("RS512", header={"kid": "RS256-first"}),
    "issuer": token(iss="https://evil.example"),
    "issuer_slash": token(iss=ISSUER + "/"),
    "audience": token(aud="https://api.example"),
    "client": token(azp="another"),
    "expired": token(exp=START - 1),
    "not_yet_valid": token(nbf=START + 60),
    "issued_in_future": token(iat=START + 61),
    "lifetime": token(exp=START + 2 * LIFETIME_S),
    "subject": token(sub=""),
    "email_missing": token(email=None, email_verified=None),
    "email_unverified": token(email_verified="true"),
    "unknown_key": token(header={"kid": "nobody"}),
    "signature": sign(
        {"alg": "RS256", "kid": "RS256-first"}, claims(), "RS256", key("RS256", "theirs")
    ),
}


@pytest.mark.parametrize("fault", ADVICE)
async def test_a_refusal_tells_its_reason_in_log_and_metric_and_nothing_of_the_token(
    fault: str, mock_clock: MockClock
) -> None:
    told = list[str]()
    checked = verifier(Web(), on_event=told.append, client_id="pgs-portal")
    with capture_logs() as logs:
        assert await checked.verify(FAULTS[fault]) == REFUSED
    assert f"identity_refused_{fault}" in told
    (line,) = (line for line in logs if line["event"] == "identity_refused")
    assert line == {
        "event": "identity_refused",
        "log_level": "info",
        "fault": fault,
        "advice": ADVICE[fault],  # type: ignore[index]  # pytest gives a plain text
    }


@pytest.mark.parametrize("claim", ["azp", "client_id"])
async def test_a_token_of_the_set_client_is_accepted_and_any_client_where_none_is_set(
    claim: str, mock_clock: MockClock
) -> None:
    more: dict[str, object] = {claim: "ours"}
    text = sign(HEADER, claims(**more), "RS256", key("RS256"))
    assert await verifier(Web(), client_id="ours").verify(text) == ANN
    assert await verifier(Web()).verify(text) == ANN
    assert await verifier(Web(), client_id="another").verify(text) == REFUSED


@pytest.mark.parametrize("alg", ["PS256", "RS256"])
@pytest.mark.parametrize("named", [None, "PS256", "RS256"])
async def test_an_rsa_key_serves_the_algorithm_that_it_names_or_both(
    alg: str, named: str | None, mock_clock: MockClock
) -> None:
    web = Web(**{JWKS_URL: key_set(jwk("RS256", kid=f"{alg}-first", alg=named))})
    assert await _verify(token(alg), web) == (ANN if named in (None, alg) else REFUSED)


async def test_es384_and_both_names_of_eddsa_are_accepted(mock_clock: MockClock) -> None:
    assert await _verify(token("ES384"), Web(**{JWKS_URL: key_set(jwk("ES384"))})) == ANN
    newer = sign({"alg": "Ed25519", "kid": "EdDSA-first"}, claims(), "Ed25519", key("EdDSA"))
    for name in (None, "EdDSA", "Ed25519"):
        web = Web(**{JWKS_URL: key_set(jwk("EdDSA", alg=name))})
        assert await _verify(newer, web) == ANN
        assert await _verify(token("EdDSA"), web) == ANN


async def test_a_sign_in_is_told_by_sid_then_auth_time_then_jti_then_the_token_itself(
    mock_clock: MockClock,
) -> None:
    async def sign_in(**of: object) -> str:
        payload = claims(**{"sid": None, **of})
        found = await _verify(sign(HEADER, payload, "RS256", key("RS256")))
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
    assert await _verify(forged, web) == REFUSED
