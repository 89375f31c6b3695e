"""The repr of records, commands and replies hides their secrets from the log."""

import msgspec
import pytest
from rich.pretty import pretty_repr

from pgs.actors.messages.account.factors import Enrolment, VerifyTotp
from pgs.actors.messages.account.keys import KeyMinted, KeyRotated
from pgs.actors.messages.account.webhooks import WebhookSaved, WebhookSecretRotated
from pgs.domain.accounts import ApiKey, Webhook
from pgs.http.admin.keys import MintedKey, Previous, RotatedKey
from pgs.http.admin.totp import Code, EnrolmentRecord
from pgs.http.admin.webhooks import WebhookState

SECRET = "made-up-secret"
KEY = ApiKey("key_1", "test", "build", "hash", "last", 1)
WEBHOOK = Webhook("https://hooks.acme-games.com/pgs", True, 0, 1, 1, None)


@pytest.mark.parametrize(
    "shown",
    [
        MintedKey("key_1", "test", "build", 1, "last", SECRET),
        RotatedKey("key_1", "test", "build", 1, "last", SECRET, previous=Previous("key_0", 2)),
        WebhookState(signing_secret=SECRET),
        EnrolmentRecord(SECRET, f"otpauth://totp/x?secret={SECRET}", f"<svg>{SECRET}</svg>", False),
        Code(SECRET),
        VerifyTotp("ada", SECRET),
        Enrolment(SECRET, f"otpauth://totp/x?secret={SECRET}"),
        KeyMinted(KEY, SECRET),
        KeyRotated(KEY, SECRET, KEY),
        WebhookSaved(WEBHOOK, SECRET),
        WebhookSecretRotated(WEBHOOK, SECRET),
    ],
    ids=lambda shown: type(shown).__name__,
)
def test_a_struct_with_a_secret_hides_it_in_its_repr(shown: msgspec.Struct) -> None:
    assert SECRET in msgspec.json.encode(shown).decode()  # the struct does hold it
    assert SECRET not in repr(shown)
    assert SECRET not in repr([(shown,)])
    assert SECRET not in pretty_repr(shown)
