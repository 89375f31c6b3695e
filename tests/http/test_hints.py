"""Refusals whose sentence names an amount."""

import pytest

from pgs.domain.errors import refuse
from pgs.http.api.hints import explained


@pytest.mark.parametrize(
    ("reason", "field", "said"),
    [
        ("stake_below_floor", "floorUsdCents", "floor of {}."),
        ("below_floor", "floorUsdCents", "floor of {}."),
        ("stake_does_not_match_price", "expectedUsdCents", "for this tier: {}."),
        ("stake_above_prize", "ceilingUsdCents", "prize of {}."),
    ],
)
def test_an_amount_is_named_with_its_unit(reason: str, field: str, said: str) -> None:
    for cents, amount in ((1, "1 cent"), (180, "180 cents")):
        message = explained(refuse(reason, **{field: cents}), {}, b"").message
        assert message is not None
        assert said.format(amount) in message
