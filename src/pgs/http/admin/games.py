"""The games of the platform, the account's licences for them, and the steps of a licence."""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from pgs.actors.messages.account.settings import ChangeLicence
from pgs.domain.accounts import Account, Licence
from pgs.domain.licences import Step
from pgs.games.installed import GAMES
from pgs.http.admin.authorization import AdminCall, account_now, change
from pgs.http.admin.endpoints import admin_list, admin_write
from pgs.http.api.endpoint import Answer, Endpoint
from pgs.http.api.hints import unknown_game
from pgs.http.api.lists import Wanted, cut, follow, wanted_page
from pgs.http.api.responses import or_unset


class GameRecord(msgspec.Struct, frozen=True, rename="camel"):
    """A game and the account's licence. `note` is the platform's note on its last decision."""

    game_id: str
    name: str
    test: bool
    live: str
    note: str | UnsetType = UNSET


class GamePage(msgspec.Struct, frozen=True, rename="camel"):
    """A page of the games that the platform runs, in the order of their ids."""

    games: list[GameRecord]
    next_cursor: str | None
    has_more: bool


_KIND = "admin.games"


def _record(account: Account, game_id: str) -> GameRecord:
    licence = account.licences.get(game_id, Licence())
    note = or_unset(licence.note)
    return GameRecord(game_id, GAMES[game_id].name, licence.test, licence.live, note)


def _id(game_id: str) -> str:
    return game_id


async def list_games(call: AdminCall) -> Answer:
    wanted = wanted_page(call, _KIND)
    if not isinstance(wanted, Wanted):
        return wanted
    installed = sorted(call.services.parts.games)
    shown, page = cut(call, _KIND, wanted, follow(installed, wanted, _id), _id)
    account = account_now(call)
    return GamePage(
        [_record(account, game_id) for game_id in shown], page.next_cursor, page.has_more
    )


def _step(
    method: Literal["POST", "DELETE"], path: str, step: Step, summary: str, *errors: str
) -> Endpoint:
    """Return the endpoint that takes a step of a game's licence.

    `errors` are the refusals that only this step can get.
    """

    async def take_step(call: AdminCall) -> Answer:
        game_id = call.path["game_id"]
        if game_id not in call.services.parts.games:
            return unknown_game(game_id, call.services.parts.games)
        reply = await change(call, ChangeLicence, game_id, step)
        return _record(reply, game_id) if isinstance(reply, Account) else reply

    return admin_write(
        method,
        f"games/{{game_id}}/{path}",
        take_step,
        GameRecord,
        summary,
        errors=("unknown_game", *errors),
    )


ENDPOINTS = (
    admin_list("games", list_games, GamePage, "The games and their licences"),
    _step("POST", "test", "test_on", "Turn a game on for test"),
    _step("DELETE", "test", "test_off", "Turn a game off for test"),
    _step(
        "POST",
        "live-request",
        "request_live",
        "Request live access to a game",
        "not_licensed_in_test",
        "already_live",
    ),
    _step("DELETE", "live-request", "take_back_live", "Take back a live request or grant"),
)
