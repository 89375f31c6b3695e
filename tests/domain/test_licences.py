import pytest

from pgs.domain.accounts import Licence
from pgs.domain.errors import BadRequest, refuse
from pgs.domain.licences import Step, action_of, take_step

LIVE = ("none", "requested", "granted", "denied", "withdrawn")

# What each step does in each state of live: the next state, a refusal, or None for a plain 400.
TABLE: dict[Step, dict[str, object]] = {
    "request_live": {
        "none": "requested",
        "requested": "requested",
        "granted": refuse("already_live"),
        "denied": "requested",
        "withdrawn": "requested",
    },
    "take_back_live": {
        "none": "none",
        "requested": "none",
        "granted": "withdrawn",
        "denied": "denied",
        "withdrawn": "withdrawn",
    },
    "grant": {
        "none": None,
        "requested": "granted",
        "granted": None,
        "denied": None,
        "withdrawn": None,
    },
    "deny": {
        "none": None,
        "requested": "denied",
        "granted": None,
        "denied": None,
        "withdrawn": None,
    },
    "withdraw": {
        "none": None,
        "requested": None,
        "granted": "withdrawn",
        "denied": None,
        "withdrawn": None,
    },
}


@pytest.mark.parametrize("live", LIVE)
@pytest.mark.parametrize("step", TABLE)
def test_the_state_of_live_follows_the_table(step: Step, live: str) -> None:
    after = take_step(Licence(True, live), step, None)
    expected = TABLE[step][live]
    if expected is None:
        assert isinstance(after, BadRequest)
    elif isinstance(expected, str):
        assert after == Licence(True, expected)
    else:
        assert after == expected


@pytest.mark.parametrize("live", LIVE)
def test_turning_the_test_licence_on_or_off_does_not_change_live(live: str) -> None:
    off, on = Licence(False, live, "note"), Licence(True, live, "note")
    assert take_step(off, "test_on", None) == take_step(on, "test_on", None) == on
    assert take_step(on, "test_off", None) == take_step(off, "test_off", None) == off


@pytest.mark.parametrize("live", ["none", "requested", "denied", "withdrawn"])
def test_live_is_requested_only_while_test_is_on(live: str) -> None:
    assert take_step(Licence(False, live), "request_live", None) == refuse("not_licensed_in_test")


def test_requesting_live_for_a_live_game_is_refused_even_when_test_is_off() -> None:
    assert take_step(Licence(False, "granted"), "request_live", None) == refuse("already_live")


def test_a_denial_keeps_its_note_and_a_new_request_drops_it() -> None:
    denied = take_step(Licence(True, "requested"), "deny", "too early")
    assert denied == Licence(True, "denied", "too early")
    assert isinstance(denied, Licence)
    assert take_step(denied, "request_live", None) == Licence(True, "requested")


def test_every_step_has_an_action_of_its_own() -> None:
    steps: tuple[Step, ...] = (
        "test_on",
        "test_off",
        "request_live",
        "take_back_live",
        "grant",
        "deny",
        "withdraw",
    )
    actions = [action_of(step) for step in steps]
    assert len(set(actions)) == len(steps)
    assert all(action.startswith("game.") for action in actions)
