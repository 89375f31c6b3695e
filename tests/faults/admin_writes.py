"""Every write of the admin API, in an order in which each one is accepted."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from pgs.demo.loopback import HOOKS_HOST
from pgs.domain.totp import code_at
from tests.journeys.client import NOTHING
from tests.journeys.partners import BOTH, BRONZE

Answers = Mapping[str, Any]
"""What the earlier writes were answered with, by endpoint. `now`: the time. `invite`: the id of an
invite to `zed`."""


class Write(msgspec.Struct, frozen=True):
    """A write of the admin API: its endpoint, how to make the call, and who makes it.

    `path` is relative to `/partner/admin/`. It and `body` may be functions of earlier answers.
    """

    endpoint: str
    path: str | Callable[[Answers], str]
    body: object | Callable[[Answers], object] = NOTHING
    who: str = "boss"


def _of_key(answers: Answers) -> str:
    return f"keys/{answers['POST keys']['keyId']}"


def _invite(answers: Answers) -> str:
    return f"invites/{answers['POST invites']['inviteId']}"


def _code(answers: Answers) -> dict[str, str]:
    return {"code": code_at(answers["POST totp/enroll"]["secret"], answers["now"])}


def _own_invite(answers: Answers) -> str:
    return f"invites/{answers['invite']}/accept"


ORIGIN: Final = {"environment": "test", "origin": "https://play.acme.example"}
LICENCE: Final = f"games/{BOTH}/"

WRITES: Final = (
    Write("POST account/domain", "account/domain", {"domain": "acme.example"}),
    Write("POST rake-terms", "rake-terms", {"version": 1}),
    Write("PUT prices/{env}", "prices/test", {"prices": {BRONZE: 150}}),
    Write("PUT theme/{env}", "theme/test", {"displayName": "Acme"}),
    Write("POST keys", "keys", {"environment": "test", "label": "one"}),
    Write("POST keys/{key_id}/rotate", lambda seen: f"{_of_key(seen)}/rotate"),
    Write("DELETE keys/{key_id}", _of_key),
    Write("POST origins", "origins", ORIGIN),
    Write("DELETE origins", "origins", ORIGIN),
    Write("POST webhooks/{env}", "webhooks/test", {"url": f"https://{HOOKS_HOST}/nudge"}),
    Write("POST webhooks/{env}/rotate-secret", "webhooks/test/rotate-secret"),
    Write("POST webhooks/{env}/test", "webhooks/test/test"),
    Write("POST webhooks/{env}/disable", "webhooks/test/disable"),
    Write("POST invites", "invites", {"email": "kim@acme.example", "role": "viewer"}),
    Write("DELETE invites/{invite_id}", _invite),
    Write("POST invites/{invite_id}/accept", _own_invite, who="zed"),
    Write("PATCH members/{uid}", "members/zed", {"role": "developer"}),
    Write("POST totp/enroll", "totp/enroll", who="zed"),
    Write("POST totp/verify", "totp/verify", _code, who="zed"),
    Write("DELETE members/{uid}/totp", "members/zed/totp"),
    Write("DELETE members/{uid}", "members/zed"),
    Write("POST games/{game_id}/test", f"{LICENCE}test"),
    Write("POST games/{game_id}/live-request", f"{LICENCE}live-request"),
    Write("POST test-match", "test-match", {"gameId": BOTH, "tierId": BRONZE}),
    Write("DELETE games/{game_id}/live-request", f"{LICENCE}live-request"),
    Write("DELETE games/{game_id}/test", f"{LICENCE}test"),
    Write("POST emergency-stop", "emergency-stop", {"environment": "test"}),
    Write("POST account/deactivate", "account/deactivate"),
    Write("POST account/reactivate", "account/reactivate"),
)
