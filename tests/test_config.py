"""Settings that cannot be are refused before anything starts, by name."""

import pytest

from pgs.config import BadSettings, Config, check_config

BAD = ["foo", ":8000", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:8000000000000", "127.0.0.1:\uff18\uff10", "5"]


@pytest.mark.parametrize("name", ["listen", "internal_listen"])
@pytest.mark.parametrize("address", BAD)
def test_an_address_that_is_none_is_refused_by_name(name: str, address: str) -> None:
    with pytest.raises(BadSettings, match=f"PGS_{name.upper()}"):
        check_config(Config(**{name: address}))  # type: ignore[arg-type]


@pytest.mark.parametrize("address", ["127.0.0.1:0", "[::1]:8000", "localhost:65535"])
def test_an_address_that_can_be_is_taken(address: str) -> None:
    assert check_config(Config(listen=address)).listen == address
