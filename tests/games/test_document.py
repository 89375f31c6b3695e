"""The examples in docs/games.md work as shown."""

import json
import re
import sys
import tomllib
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest

from pgs.games import installed as catalogue
from pgs.games.installed import GAMES, GROUP, installed_games, load_games
from pgs.games.rules import MOVE_MAX, Outcome, Rules
from tests.conventions.tree import ROOT
from tests.games.playing import a_game, played

TEXT = (ROOT / "docs" / "games.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """Return the document's only code block in a language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.fixture
def nim(monkeypatch: pytest.MonkeyPatch) -> Rules:
    """Install the document's game by its module and its entry point, as the document says."""
    monkeypatch.setattr(catalogue, "GAMES", dict(GAMES))
    module = ModuleType("pgs_nim")
    monkeypatch.setitem(sys.modules, "pgs_nim", module)
    program = compile(block("python"), "pgs_nim.py", "exec")
    exec(program, module.__dict__)  # noqa: S102 - it comes from our own document
    declared = tomllib.loads(block("toml"))["project"]["entry-points"][GROUP]
    games = load_games([EntryPoint(name, value, GROUP) for name, value in declared.items()])
    assert games.keys() - installed_games() == {"nim"}
    return games["nim"]


def test_the_game_in_the_document_has_fewer_than_eighty_lines() -> None:
    assert len(block("python").splitlines()) + len(block("toml").splitlines()) < 80


def test_the_game_in_the_document_is_played_to_its_end(nim: Rules) -> None:
    assert catalogue.GAMES["nim"].name == "Nim"
    assert len(nim.legal_moves(nim.initial())) == 12
    state = played(nim, ["a3", "b4", "c5"])
    assert nim.outcome(state) == Outcome(0)
    assert nim.legal_moves(state) == ()
    assert nim.view(state) == {"a": 0, "b": 0, "c": 0}


@pytest.mark.parametrize("seed", range(20))
def test_the_game_in_the_document_keeps_the_rules_for_games(nim: Rules, seed: int) -> None:
    course = a_game(nim, seed)
    for state, move in course:
        legal = nim.legal_moves(state)
        assert nim.outcome(state) is None
        assert len(move) <= MOVE_MAX
        for other in {"a0", "a9", "d1", "", "pass", "a1", "c5"} - {*legal}:
            with pytest.raises(ValueError, match="no legal move"):
                nim.apply(state, other)
    end = nim.outcome(played(nim, [move for _, move in course]))
    assert end == Outcome(0 if len(course) % 2 else 1)


SHOWN = re.findall(
    r"^### ([\w-]+)\n.*?After `([^`]+)`:\n\n```json\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL
)


def test_the_document_shows_a_state_of_every_game_of_the_package() -> None:
    assert [game_id for game_id, _, _ in SHOWN] == list(GAMES)


@pytest.mark.parametrize(("game_id", "moves", "state"), SHOWN, ids=[shown[0] for shown in SHOWN])
def test_the_state_in_the_document_is_what_players_get(
    game_id: str, moves: str, state: str
) -> None:
    games = load_games([])
    if game_id not in games:
        pytest.skip(f"NOT TESTED: the extra `{game_id}` is not installed")
    rules = games[game_id]
    assert json.loads(json.dumps(rules.view(played(rules, moves.split())))) == json.loads(state)


def test_the_table_in_the_document_names_every_game() -> None:
    rows = dict(re.findall(r"^\| `([\w-]+)`[^|]*\| ([^|]+) \|", TEXT, re.MULTILINE))
    assert list(rows) == list(GAMES)
