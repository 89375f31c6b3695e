"""Paths that the log shows have no credential of any kind."""

import pytest

from pgs.domain.cursors import make_cursor
from pgs.domain.hidden_credentials import without_credentials
from pgs.domain.keyring import KeyRing, RingKey
from pgs.domain.keys import ENTROPY_BYTES, make_key
from pgs.domain.secrets import WEBHOOK_SECRET_BYTES, webhook_secret
from pgs.domain.sessions import SessionClaims, sign_session

RING = KeyRing((RingKey("k1", b"k" * 32),))


@pytest.mark.parametrize(
    "credential",
    [
        make_key("live", "acme", b"e" * ENTROPY_BYTES),
        make_key("test", "acme", b"e" * ENTROPY_BYTES),
        sign_session(SessionClaims("acme", "live", "chess", "p", None, 1, 2, 3), RING),
        make_cursor(RING, "results", "acme", "live", 4),
        webhook_secret(b"e" * WEBHOOK_SECRET_BYTES),
    ],
)
def test_a_credential_in_a_path_is_hidden_behind_its_first_characters(credential: str) -> None:
    shown = without_credentials(f"/partner/{credential}/x")
    assert shown.startswith(f"/partner/{credential[:5]}")
    assert shown.endswith("[hidden]/x")
    assert credential[10:] not in shown


def test_a_path_without_a_credential_stays_as_it_is() -> None:
    assert without_credentials("/partner/matches/m_1/decide") == "/partner/matches/m_1/decide"
