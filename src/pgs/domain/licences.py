"""The steps of a game's licence.

The partner turns test on and off, requests live access, and may take the request or the access
back. The platform grants, denies or withdraws live access.
"""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from pgs.domain.accounts import Licence
from pgs.domain.errors import BadRequest, Refusal, refuse

Step = Literal["test_on", "test_off", "request_live", "take_back_live", "grant", "deny", "withdraw"]

_VERBS: Final[Mapping[Step, str]] = {
    "test_on": "test_enabled",
    "test_off": "test_disabled",
    "request_live": "live_requested",
    "take_back_live": "live_taken_back",
    "grant": "live_granted",
    "deny": "live_denied",
    "withdraw": "live_withdrawn",
}


def action_of(step: Step) -> str:
    """Return the event-log action of a step."""
    return f"game.{_VERBS[step]}"


def take_step(licence: Licence, step: Step, note: str | None) -> Licence | Refusal | BadRequest:
    """Return the licence after a step, or why the step cannot be taken.

    If the step changes nothing, the returned licence equals the given one. Turning test off does
    not change live. After a denial or a withdrawal, live access can be requested again.
    """
    live = licence.live
    if step == "test_on" or step == "test_off":
        return msgspec.structs.replace(licence, test=step == "test_on")
    if step == "request_live":
        if live == "granted":
            return refuse("already_live")
        if not licence.test:
            return refuse("not_licensed_in_test")
        return licence if live == "requested" else Licence(licence.test, "requested")
    if step == "take_back_live":
        after = {"requested": "none", "granted": "withdrawn"}.get(live)
        return Licence(licence.test, after) if after else licence
    if step == "withdraw":
        return (
            Licence(licence.test, "withdrawn", note)
            if live == "granted"
            else BadRequest(f"The game is not live here: its state is {live}.")
        )
    if live == "granted":
        return BadRequest("Live access has been granted already. It can be withdrawn.")
    if live != "requested":
        return BadRequest(f"Live access has not been requested: its state is {live}.")
    return Licence(licence.test, "granted" if step == "grant" else "denied", note)
