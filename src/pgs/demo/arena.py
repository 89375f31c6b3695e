"""The demo's bots: pairs that play each other, and one that plays against the page's user."""

from itertools import count
from typing import Final

import msgspec
import trio

from pgs.clock import Rng
from pgs.demo.bots import BotStopped, Played, play_match
from pgs.demo.launch import Launcher, NotLaunched, Player
from pgs.demo.printing import Teller
from pgs.games.installed import GAMES, installed_games

PACE_S: Final = 0.8
"""Seconds that a bot thinks about a move, on average, so that a person can follow the game."""

PAUSE_S: Final = 2.0
"""Seconds between two matches of a pair of bots, so that a person can read the result."""

_AGAIN_S: Final = 5.0
"""Seconds that a pair of bots waits after a match that could not begin, in addition to the pause
between two matches, so that a fault does not fill the terminal."""


class Arena(msgspec.Struct):
    """Lets bots play matches.

    `pace_s`: average seconds of thought. `pause_s`: seconds between matches.
    """

    launcher: Launcher
    teller: Teller
    rng: Rng
    pace_s: float = PACE_S
    pause_s: float = PAUSE_S
    opposing: trio.Lock = msgspec.field(default_factory=trio.Lock)

    async def play_on(self, number: int) -> None:
        """Let a pair of bots play one match after another, all games in turn, until cancelled.

        Pairs are numbered from 0.
        """
        first, second = (
            Player(f"bot-{name}", f"Bot {name}") for name in (2 * number + 1, 2 * number + 2)
        )
        games = sorted(installed_games(), key=list(GAMES).index)
        for turn in count(number):
            try:
                await self.play_one(games[turn % len(games)], first, second)
            except NotLaunched as error:
                self.teller.unexpected(f"{first.name} and {second.name} cannot begin: {error}")
                await trio.sleep(_AGAIN_S)
            await trio.sleep(self.pause_s)

    async def play_one(self, game_id: str, first: Player, second: Player) -> Played | None:
        """Launch one match, play it to its end and print its result.

        Returns the match as the first player saw it, or None if that player's bot had to stop.
        Raises `NotLaunched`.
        """
        match_id = await self.launcher.launch(game_id, first, second)
        ends: dict[str, Played | None] = {}

        async def play(player: Player) -> None:
            ends[player.player_id] = await self._play(game_id, match_id, player)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(play, first)
            nursery.start_soon(play, second)
        end = ends[first.player_id]
        if end is not None:
            self.teller.match(GAMES[game_id].name, first.name, second.name, end)
        return end

    async def oppose(self, player: Player, opponent: Player, game_id: str, match_id: str) -> None:
        """Play `player`'s side of a match to its end and print its result."""
        # One match at a time: a player's new socket closes the socket of an earlier match.
        async with self.opposing:
            end = await self._play(game_id, match_id, player)
        if end is not None:
            self.teller.match(GAMES[game_id].name, player.name, opponent.name, end)

    async def _play(self, game_id: str, match_id: str, player: Player) -> Played | None:
        try:
            session = await self.launcher.mint(game_id, player)
            return await play_match(
                session.game_socket_url,
                session.session_token,
                self.rng,
                self.pace_s,
                match_id=match_id,
            )
        except (NotLaunched, BotStopped) as error:
            self.teller.unexpected(f"{player.name} has left {GAMES[game_id].name}: {error}")
            return None
