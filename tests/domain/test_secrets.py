"""How structs keep secrets out of logs, and how a webhook's secret is made."""

import msgspec
import pytest
from rich.pretty import pretty_repr

from pgs.domain.secrets import WEBHOOK_SECRET_BYTES, HidesSecrets, webhook_secret


class Door(HidesSecrets, msgspec.Struct, frozen=True, rename="camel"):
    SECRETS = frozenset({"door_code"})

    house_number: int
    door_code: str


class TwoDoors(Door, frozen=True, rename="camel", kw_only=True):
    other: Door


def test_a_struct_shows_its_fields_but_not_its_secrets() -> None:
    door = TwoDoors(house_number=7, door_code="1234", other=Door(9, "5678"))
    other = "Door(house_number=9, door_code=<hidden>)"
    expected = f"TwoDoors(house_number=7, door_code=<hidden>, other={other})"
    assert repr(door) == expected
    assert repr((door,)) == f"({expected},)"


def test_the_rich_library_shows_no_secret() -> None:
    shown = pretty_repr([Door(7, "1234")])
    assert "house_number=7" in shown
    assert "1234" not in shown


def test_a_struct_with_secrets_is_encoded_whole() -> None:
    assert msgspec.json.encode(Door(7, "1234")) == b'{"houseNumber":7,"doorCode":"1234"}'


def test_a_webhook_secret_takes_32_random_bytes_and_is_49_characters() -> None:
    secret = webhook_secret(bytes(WEBHOOK_SECRET_BYTES))
    assert secret == f"whsec_{'A' * 43}"
    with pytest.raises(ValueError, match="32 bytes"):
        webhook_secret(bytes(WEBHOOK_SECRET_BYTES - 1))
