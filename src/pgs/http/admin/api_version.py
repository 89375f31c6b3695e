"""`POST api-version` moves an environment's version pin."""

import msgspec

from pgs.actors.messages.account.settings import SetPin
from pgs.domain.accounts import Account
from pgs.domain.environments import Environment
from pgs.http.admin.account import Pins, pins
from pgs.http.admin.authorization import AdminCall, change
from pgs.http.admin.endpoints import admin_write
from pgs.http.api.body import SafeInt
from pgs.http.api.endpoint import Answer


class NewPin(msgspec.Struct, frozen=True):
    """An environment, and the API version to pin it to."""

    environment: Environment
    version: SafeInt


async def move_pin(call: AdminCall) -> Answer:
    """Move a pin, forwards or backwards; return the pins of both environments."""
    body: NewPin = call.body
    reply = await change(call, SetPin, body.environment, body.version)
    return pins(reply) if isinstance(reply, Account) else reply


ENDPOINTS = (
    admin_write(
        "POST",
        "api-version",
        move_pin,
        Pins,
        "Move a version pin",
        request=NewPin,
        errors=("unsupported_api_version",),
    ),
)
