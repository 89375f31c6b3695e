"""The table of games has the games of the package and those of other distributions."""

import re
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint

import pytest

from pgs.games import installed as catalogue
from pgs.games.installed import GAMES, BadGame, installed_games, load_games
from pgs.games.rules import Side, TurnClock
from pgs.games.tic_tac_toe import TicTacToe
from tests.conventions.tree import SOURCE, files


class Nim(TicTacToe):
    """A game of another distribution, with only the attributes that the table of games reads."""

    game_id = "nim"
    name = "Nim"
    clock = TurnClock(10_000)

    def turn(self, state: object) -> Side:
        return 1


NIM = Nim()


def brought(name: str, value: str = "tests.games.test_catalogue:NIM") -> list[EntryPoint]:
    """Return a list with one entry point, as a distribution declares it."""
    return [EntryPoint(name, value, "pgs.games")]


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "GAMES", dict(GAMES))


def test_every_installed_game_of_the_package_is_loaded_under_its_id() -> None:
    games = load_games([])
    assert games.keys() == installed_games()
    assert {game_id: rules.game_id for game_id, rules in games.items()} == {
        game_id: game_id for game_id in games
    }
    assert {game_id: rules.name for game_id, rules in games.items()} == {
        game_id: GAMES[game_id].name for game_id in games
    }


def test_a_game_of_another_distribution_is_loaded_by_its_entry_point() -> None:
    games = load_games(brought("nim"))
    assert games["nim"].clock == TurnClock(10_000)
    assert catalogue.GAMES["nim"].name == "Nim"


@pytest.mark.parametrize("name", ["tic-tac-toe", "chess", "other"])
def test_no_entry_point_takes_the_id_of_another_game(name: str) -> None:
    with pytest.raises(BadGame, match=name):
        load_games(brought(name))


def test_an_entry_point_that_is_not_a_game_is_refused() -> None:
    with pytest.raises(BadGame, match="nim"):
        load_games(brought("nim", "tests.games.test_catalogue:brought"))


def test_a_game_brought_twice_is_refused() -> None:
    with pytest.raises(BadGame, match="nim"):
        load_games(brought("nim") * 2)


def test_without_its_extra_only_chess_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def find(name: str) -> ModuleSpec | None:
        return None if name == "chess" else ModuleSpec(name, None)

    monkeypatch.setattr(catalogue, "find_spec", find)
    assert installed_games() == {"tic-tac-toe", "connect-four", "reversi"}
    assert load_games([]).keys() == installed_games()
    assert "chess" in catalogue.GAMES


def test_only_the_chess_module_imports_the_chess_library() -> None:
    imports = re.compile(r"^\s*(?:import|from) chess\b", re.MULTILINE)
    assert [
        path.relative_to(SOURCE).as_posix()
        for path in files(SOURCE, ".py")
        if imports.search(path.read_text(encoding="utf-8"))
    ] == ["games/chess.py"]
