"""The demo partner's site: a page with players' frames, and its backend, which has the API key."""

import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from html import escape
from importlib.resources import files
from typing import Any, Final

import msgspec
import trio
from quart import Response, request
from quart_trio import QuartTrio

from pgs.demo.curl import KEY_LINE
from pgs.demo.launch import STAKE_USD_CENTS, Launcher, NotLaunched, Player
from pgs.demo.news import News
from pgs.games.installed import GAMES, installed_games
from pgs.http.transport.limits import ServerLimits
from pgs.http.transport.server import serve

PLAYERS: Final = (Player("site-1", "Player one"), Player("site-2", "Player two"))

_LIMITS: Final = ServerLimits(max_connections=256, grace_s=0.25, shutdown_s=0.25)
"""Limits of the demo page's listener. `max_connections`: connections at the same time, more than
one browser opens. `grace_s`, `shutdown_s`: seconds that a stop waits for requests in flight, and
then for the application; few, so that the demo stops soon."""

_BODY_MAX: Final = 16 * 1024
"""Bytes of a request from the demo's page. Such a request names a game and a player."""

_WAIT_S: Final = 20.0
"""Seconds for which the demo's site holds a request for news: less than browsers allow."""

_BUILT: Final = {"site.js": "text/javascript; charset=utf-8", "site.css": "text/css; charset=utf-8"}

Opponent = Callable[[str, str], Awaitable[None]]
"""Plays the second player's side of a match. Arguments: game id, match id."""


class _Wanted(msgspec.Struct):
    game_id: str = msgspec.field(name="gameId")
    player: int = 0
    void: str | None = None
    """The running match that may be ended, so that the new one can begin."""


class Site:
    """The page's backend.

    With an `opponent`, a program plays the second player, and the page shows one frame only.
    """

    def __init__(
        self,
        launcher: Launcher,
        service_url: str,
        origins: tuple[str, ...],
        news: News,
        *,
        opponent: Opponent | None = None,
    ) -> None:
        self._launcher = launcher
        self._service_url = service_url
        self._hosts = {origin.partition("://")[2] for origin in origins}
        self._origins = set(origins)
        self._news = news
        self._opponent = opponent
        self._launching = trio.Lock()
        self._current: tuple[str, str] | None = None  # game and match
        self._games = [game for game_id, game in GAMES.items() if game_id in installed_games()]

    def make_app(self, nursery: trio.Nursery) -> QuartTrio:
        """Return the site as a Quart application. Opponents play in `nursery`."""
        app = QuartTrio("pgs.demo.site", static_folder=None)
        app.config.update(PROVIDE_AUTOMATIC_OPTIONS=False, MAX_CONTENT_LENGTH=_BODY_MAX)
        page = self._page()

        @app.before_request
        async def _only_from_here() -> Response | None:
            # Refuse foreign host names that resolve to this machine (DNS rebinding) and requests
            # from other sites' pages: neither may use the key.
            foreign = (
                request.host not in self._hosts
                or request.headers.get("Origin", request.host_url.rstrip("/")) not in self._origins
            )
            return _refused(403, "This site is for this machine's browser.") if foreign else None

        @app.after_request
        async def _guard(response: Response) -> Response:
            response.headers.update(self._headers())
            return response

        @app.get("/")
        async def _show() -> Response:
            return Response(page, content_type="text/html; charset=utf-8")

        @app.get("/<name>")
        async def _file(name: str) -> Response:
            content = _built(name) if name in _BUILT else None
            if content is None:
                return _refused(404, "There is no such page.")
            return Response(content, content_type=_BUILT[name])

        @app.get("/play/match")
        async def _show_match() -> Response:
            return _json(self._state())

        @app.post("/play/match")
        async def _launch() -> Response:
            return await self._answer(self._launch, nursery)

        @app.post("/play/session")
        async def _mint() -> Response:
            return await self._answer(self._mint, nursery)

        @app.get("/play/news")
        async def _hear() -> Response:
            after = request.args.get("after", "")
            entries, last = await self._news.after(
                int(after) if after.isascii() and after.isdecimal() and len(after) < 12 else 0,
                _WAIT_S,
            )
            return _json({"entries": entries, "last": last})

        return app

    async def _answer(
        self, act: Callable[[_Wanted, trio.Nursery], Awaitable[Response]], nursery: trio.Nursery
    ) -> Response:
        try:
            wanted = msgspec.json.decode(await request.get_data(), type=_Wanted)
        except msgspec.DecodeError:
            return _refused(400, "The page sends no such request.")
        if wanted.game_id not in {game.game_id for game in self._games}:
            return _refused(400, "There is no such game.")
        try:
            return await act(wanted, nursery)
        except NotLaunched as error:
            return _refused(502, f"The service refused the call: {error}")

    async def _mint(self, wanted: _Wanted, _: trio.Nursery) -> Response:
        if wanted.player not in range(self._shown):
            return _refused(404, "This player has no frame here.")
        session = await self._launcher.mint(wanted.game_id, PLAYERS[wanted.player])
        return _json({"embedUrl": session.embed_url, "sessionToken": session.session_token})

    async def _launch(self, wanted: _Wanted, nursery: trio.Nursery) -> Response:
        async with self._launching:
            if self._current is not None:
                match_id = self._current[1]
                if wanted.void != match_id and await self._launcher.is_running(match_id):
                    # The page asks its user, and then names the match that may be ended.
                    return _json({**self._state(), "running": True}, 409)
                await self._launcher.call_off(match_id)
            self._current = (wanted.game_id, await self._launcher.launch(wanted.game_id, *PLAYERS))
            if self._opponent is not None:
                nursery.start_soon(self._opponent, *self._current)
        return _json(self._state())

    @property
    def _shown(self) -> int:
        return len(PLAYERS) if self._opponent is None else 1

    def _state(self) -> dict[str, Any]:
        """Return what the page shows: games, players, and the current match or None."""
        match = (
            None
            if self._current is None
            else {"gameId": self._current[0], "matchId": self._current[1]}
        )
        return {
            "games": [{"gameId": game.game_id, "name": game.name} for game in self._games],
            "players": [player.name for player in PLAYERS[: self._shown]],
            "match": match,
            "stakeUsdCents": STAKE_USD_CENTS,
            "keyLine": KEY_LINE,
        }

    def _page(self) -> str:
        page = files("pgs.demo").joinpath("page", "index.html").read_text("utf-8")
        return page.replace("%SERVICE%", escape(self._service_url))

    def _headers(self) -> dict[str, str]:
        policy = (
            "default-src 'none'",
            f"script-src 'self' {self._service_url}/embed/pgs-embed.js",
            "style-src 'self'",
            "img-src data:",
            "connect-src 'self'",
            f"frame-src {self._service_url}",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
        return {
            "Content-Security-Policy": "; ".join(policy),
            "Cache-Control": "no-store",
            # In older browsers, the frame learns the origin of its parent from the referrer only.
            "Referrer-Policy": "origin",
            "X-Content-Type-Options": "nosniff",
        }


def _built(name: str) -> bytes | None:
    """Return a file that `scripts/web` has built, or None if the script has not run."""
    try:
        return files("pgs").joinpath("web", "demo", name).read_bytes()
    except FileNotFoundError:
        return None


def _json(value: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status=status, content_type="application/json")


def _refused(status: int, words: str) -> Response:
    return Response(
        msgspec.json.encode({"error": words}), status=status, content_type="application/json"
    )


def origins_of(sock: socket.socket) -> tuple[str, ...]:
    """Return the origins at which this machine's browsers reach a bound socket, the usual first."""
    port = sock.getsockname()[1]
    return (f"http://127.0.0.1:{port}", f"http://localhost:{port}")


@asynccontextmanager
async def serving(site: Site, sock: socket.socket) -> AsyncIterator[None]:
    """Serve the site on a bound socket while the block runs."""
    stop = trio.Event()
    async with trio.open_nursery() as opponents, trio.open_nursery() as nursery:

        async def run(task_status: trio.TaskStatus[list[str]]) -> None:
            await serve(
                site.make_app(opponents), [sock], stop=stop, limits=_LIMITS, task_status=task_status
            )

        await nursery.start(run)
        try:
            yield
        finally:
            stop.set()
            opponents.cancel_scope.cancel()
