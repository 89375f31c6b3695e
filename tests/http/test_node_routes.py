"""Which shard a request belongs to, by its head."""

import pytest

from pgs.domain.keyring import new_ring
from pgs.domain.keys import ENTROPY_BYTES, make_key
from pgs.domain.sessions import SessionClaims, sign_session
from pgs.domain.shards import shard_of
from pgs.http.nodes.routes import credential_of, shard_of_request

KEYS = [make_key(kind, "acme", b"e" * ENTROPY_BYTES) for kind in ("live", "test")]
CLAIMS = SessionClaims("acme", "live", "reversi", "ann", None, 1, 2, 0)
TOKEN = sign_session(CLAIMS, new_ring(b"k" * 6, b"s" * 32))


@pytest.mark.parametrize("credential", [*KEYS, TOKEN])
@pytest.mark.parametrize("scheme", ["Bearer ", "bearer   ", "BEARER "])
def test_a_key_and_a_session_token_lead_to_their_partner(credential: str, scheme: str) -> None:
    headers = [(b"host", b"x"), (b"authorization", (scheme + credential).encode())]
    assert shard_of_request(b"/partner/me", headers) == shard_of("acme")


def test_a_token_among_the_subprotocols_leads_to_its_partner() -> None:
    offered = ("pgs.game.v1", f"pgs.token.{TOKEN}")
    assert shard_of_request(b"/game/socket", [], offered) == shard_of("acme")
    assert credential_of([], offered) == f"Bearer {TOKEN}".encode()


def test_a_header_counts_before_the_subprotocols() -> None:
    headers = [(b"authorization", b"Bearer eyJ.identity.token")]
    assert shard_of_request(b"/game/socket", headers, (f"pgs.token.{TOKEN}",)) is None


@pytest.mark.parametrize(
    "path",
    [
        b"/embed/acme",
        b"/embed/test/acme",
        b"/embed/acme/logo/0a1b",
        b"/embed/test/acme/logo/0a1b",
        b"/portal/frame/test/acme",
    ],
)
def test_a_frame_leads_to_its_partner(path: bytes) -> None:
    assert shard_of_request(path, []) == shard_of("acme")


@pytest.mark.parametrize("path", [b"/docs/", b"/docs/errors.json", b"/portal/", b"/partners", b"/"])
def test_a_key_does_not_send_a_page_to_another_node(path: bytes) -> None:
    assert shard_of_request(path, [(b"authorization", f"Bearer {KEYS[0]}".encode())]) is None


@pytest.mark.parametrize(
    "path",
    [b"/", b"/docs/", b"/embed/pgs-embed.js", b"/embed/", b"/embed/test", b"/embed/ab", b"/embed"],
)
def test_a_path_of_no_partner_has_no_shard(path: bytes) -> None:
    assert shard_of_request(path, []) is None


@pytest.mark.parametrize(
    "value", [b"", b"Bearer", b"Bearer pgs_test_zzz", b"Basic pgs_test_0a1", b"Bearer pgs2.0a1.x"]
)
def test_an_unusable_credential_has_no_shard(value: bytes) -> None:
    assert shard_of_request(b"/partner/me", [(b"authorization", value)]) is None
