"""The games that the account may run, and the steps towards a licence."""

import msgspec
from msgspec import UNSET, UnsetType

from pgs.actors import messages as m
from pgs.domain.accounts import Account, Licence
from pgs.domain.errors import refuse
from pgs.domain.licences import Step
from pgs.games.catalogue import GAMES
from pgs.http.admin.gate import AdminCall, account_now, change
from pgs.http.admin.lists import LIST_QUERY, Wanted, cut, follow, wanted_page
from pgs.http.endpoint import Answer, Endpoint, Handler


class GameRecord(msgspec.Struct, frozen=True, rename="camel"):
    """A game and the account's licence for it. `note` is what the platform had to say to its last step."""

    game_id: str
    name: str
    test: bool
    live: str
    note: str | UnsetType = UNSET


class GamePage(msgspec.Struct, frozen=True, rename="camel"):
    """A page of the games that the platform runs, by id."""

    games: list[GameRecord]
    next_cursor: str | None
    has_more: bool


_KIND = "admin.games"


def _record(account: Account, game_id: str) -> GameRecord:
    licence = account.licences.get(game_id, Licence())
    note = UNSET if licence.note is None else licence.note
    return GameRecord(game_id, GAMES[game_id].name, licence.test, licence.live, note)


def _id(game_id: str) -> str:
    return game_id


async def list_games(call: AdminCall) -> Answer:
    """Return a page of the games."""
    wanted = wanted_page(call, _KIND)
    if not isinstance(wanted, Wanted):
        return wanted
    installed = sorted(call.services.parts.installed_games)
    shown, page = cut(call, _KIND, wanted, follow(installed, wanted, _id), _id)
    account = account_now(call)
    return GamePage([_record(account, game_id) for game_id in shown], page.next_cursor, page.has_more)


def _stepping(step: Step) -> Handler:
    async def take_step(call: AdminCall) -> Answer:
        game_id = call.path["game_id"]
        if game_id not in call.services.parts.installed_games:
            return refuse("unknown_game")
        reply = await change(call, m.ChangeLicence, game_id, step)
        return _record(reply, game_id) if isinstance(reply, Account) else reply

    return take_step


_PATH = "/partner/admin/games"

ENDPOINTS = (
    Endpoint(
        method="GET",
        path=_PATH,
        handler=list_games,
        response=GamePage,
        credential="identity",
        query=LIST_QUERY,
        errors=("invalid_cursor",),
        summary="The games and their licences",
    ),
    Endpoint(
        method="POST",
        path=f"{_PATH}/{{game_id}}/test",
        handler=_stepping("test_on"),
        response=GameRecord,
        credential="identity",
        errors=("unknown_game", "partner_changed"),
        summary="Turn a game on for test",
    ),
    Endpoint(
        method="DELETE",
        path=f"{_PATH}/{{game_id}}/test",
        handler=_stepping("test_off"),
        response=GameRecord,
        credential="identity",
        errors=("unknown_game", "partner_changed"),
        summary="Turn a game off for test",
    ),
    Endpoint(
        method="POST",
        path=f"{_PATH}/{{game_id}}/live-request",
        handler=_stepping("request_live"),
        response=GameRecord,
        credential="identity",
        errors=("unknown_game", "not_licensed_in_test", "already_live", "partner_changed"),
        summary="Request live access to a game",
    ),
    Endpoint(
        method="DELETE",
        path=f"{_PATH}/{{game_id}}/live-request",
        handler=_stepping("take_back_live"),
        response=GameRecord,
        credential="identity",
        errors=("unknown_game", "partner_changed"),
        summary="Take back a live request or grant",
    ),
)
