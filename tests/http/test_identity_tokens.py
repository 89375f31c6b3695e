"""Which identity tokens are accepted and which are refused. Time stands still at `START`."""

import pytest
from structlog.testing import capture_logs
from trio.testing import MockClock

from pgs.domain.errors import Refusal
from pgs.http.identity.tokens import (
    ADVICE,
    ISSUED_AHEAD_S,
    LIFETIME_S,
    NOT_BEFORE_LEEWAY_S,
    Identity,
)
from tests.http.identity import (
    ALGORITHMS,
    AUDIENCE,
    ISSUER,
    SIGN_IN,
    Web,
    claims,
    jwk,
    key,
    key_set,
    sign,
    token,
    verifier,
)
from tests.http.identity_tokens import ANN, BAD, HEADER, REFUSED, claims_text, token_with, verify
from tests.virtual import START

# Accepted tokens


@pytest.mark.parametrize("alg", ALGORITHMS)
async def test_a_token_of_each_algorithm_is_accepted(alg: str, mock_clock: MockClock) -> None:
    assert await verify(token(alg)) == ANN


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
        token_with(payload=claims_text('"deep":' + "[" * 50 + "]" * 50)),
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
    verified = await verify(text)
    assert isinstance(verified, Identity)
    assert (verified.uid, verified.email) == (ANN.uid, ANN.email)


@pytest.mark.parametrize("expires_at", [START + 1, START + 0.5])
async def test_an_identity_tells_when_its_token_expires(
    expires_at: int | float, mock_clock: MockClock
) -> None:
    assert await verify(token(exp=expires_at)) == Identity(ANN.uid, ANN.email, expires_at, SIGN_IN)


@pytest.mark.parametrize("uid", ["a", "u" * 255, "auth0|5f7c", "ünïcode", "0"])
async def test_a_uid_is_any_printable_text_of_up_to_255_characters(
    uid: str, mock_clock: MockClock
) -> None:
    assert await verify(token(sub=uid)) == Identity(uid, "ann@example.com", START + 3600, SIGN_IN)


async def test_a_token_without_a_kid_is_accepted_where_only_one_key_fits(
    mock_clock: MockClock,
) -> None:
    assert await verify(token(header={"kid": None})) == ANN
    two = Web()
    two.documents = {url: key_set(jwk("RS256"), jwk("RS256", "second")) for url in two.documents}
    assert await verify(token(header={"kid": None}), two) == REFUSED
    assert await verify(token("RS256", "second"), two) == ANN


async def test_keys_of_one_id_are_all_tried(mock_clock: MockClock) -> None:
    web = Web()
    same = [jwk("RS256", name, kid="same") for name in ("first", "second")] + [
        jwk("ES256", kid="same")
    ]
    web.documents = {url: key_set(*same) for url in web.documents}
    for alg, name in (("RS256", "first"), ("RS256", "second"), ("ES256", "first")):
        assert await verify(token(alg, name, header={"kid": "same"}), web) == ANN


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_token_is_refused_without_an_exception(
    name: str, mock_clock: MockClock
) -> None:
    assert await verify(BAD[name]) == REFUSED


@pytest.mark.parametrize("name", BAD)
async def test_a_token_that_no_key_could_make_valid_is_refused_even_during_an_outage(
    name: str, mock_clock: MockClock
) -> None:
    web = Web()
    web.down = True
    needs_keys = ("kid", "key", "signature", "HMAC called", "an RSA", "an EC")
    refused = await verify(BAD[name], web)
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
