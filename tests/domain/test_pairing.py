import msgspec
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.pairing import explain_test, oldest_opponent, pool_of
from tests.making import seat

NOW = 1000
players = st.sampled_from(["alice", "bob", "carol"])


@given(st.lists(players), players)
def test_the_opponent_is_the_first_waiting_seat_of_another_player(
    line: list[str], player: str
) -> None:
    waiting = [seat(number, player_id=name) for number, name in enumerate(line)]
    found = oldest_opponent(waiting, player, NOW)
    others = [number for number, name in enumerate(line) if name != player]
    assert (found.seq if found else None) == (others[0] if others else None)


def test_a_pool_is_defined_by_partner_game_tier_tier_revision_and_settlement() -> None:
    one = seat(1)
    assert pool_of(one) == pool_of(
        msgspec.structs.replace(
            one, seq=9, player_id="x", stake_usd_cents=1, sent_usd_cents=2, seat_id="y"
        )
    )
    for changes in (
        {"partner_id": "other"},
        {"game_id": "chess"},
        {"tier_id": "gold"},
        {"tier_revision": 4},
        {"settlement": "remote"},
    ):
        assert pool_of(msgspec.structs.replace(one, **changes)) != pool_of(one)


def test_an_expired_seat_is_no_opponent() -> None:
    expired, open_one = (seat(number, player_id="alice", due_at=NOW + number) for number in (0, 1))
    assert oldest_opponent([expired, open_one], "bob", NOW) is open_one
    assert oldest_opponent([expired], "bob", NOW) is None


def test_the_explanation_names_its_rule_the_wait_and_who_begins() -> None:
    assert explain_test(7, "ann") == {"rule": "test.v1", "waitedSeconds": 7, "begins": "ann"}
