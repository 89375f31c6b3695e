"""Every installed game: drawn from the states of its rules, and played by pressing cells."""

import random
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator

from pgs.games.installed import load_games
from pgs.games.rules import PASS
from tests.browser.chromium import Tab
from tests.browser.positions import SIZES
from tests.browser.scripted_server import ScriptedServer, snapshot
from tests.browser.test_layout import FAULTS, SCHEMES
from tests.journeys.partners import Partner
from tests.journeys.service import SharedService

pytestmark = pytest.mark.browser

GAMES = load_games()
MOVES = {"mouse": 24, "touch": 8, "keyboard": 8}
_PIECES = {"q": "Queen", "r": "Rook", "b": "Bishop", "n": "Knight"}
ENDED = {
    "type": "ended",
    "seq": 2,
    "outcome": "ended",
    "result": "won",
    "endReason": "completed",
}
WAYS = ("mouse", "touch", "keyboard")


def _use(target: Locator, way: str) -> None:
    """Press something with the mouse, a finger or the keyboard."""
    if way == "mouse":
        target.click()
    elif way == "touch":
        target.tap()
    else:
        target.press("Enter")


def _press(tab: Tab, game_id: str, move: str, way: str) -> None:
    """Play a move by pressing cells in the frame."""
    if move == PASS:
        _use(tab.frame.get_by_role("button", name="Pass"), way)
    elif game_id == "connect-four":
        _use(tab.frame.locator(f'[data-column="{move}"]'), way)
    elif game_id == "chess":
        _use(tab.cell(move[:2]), way)
        _use(tab.cell(move[2:4]), way)
        if move[4:]:
            _use(tab.frame.get_by_role("button", name=_PIECES[move[4:]]), way)
    else:
        _use(tab.cell(move), way)


def _men_in(view: Any) -> int:
    """Return how many pieces or marks stand on the board of a game's view."""
    if "fen" in view:
        return sum(letter.isalpha() for letter in view["fen"].split(" ")[0])
    return sum(row.count(0) + row.count(1) for row in view["board"])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("game_id", sorted(GAMES))
def test_a_game_is_played_by_mouse_by_finger_and_by_keyboard_at_every_size_in_both_schemes(
    service: SharedService,
    partner: Partner,
    site: str,
    browser: Browser,
    game_id: str,
    way: str,
) -> None:
    context = browser.new_context(has_touch=way == "touch", reduced_motion="reduce")
    tab, rules, choose = Tab(context.new_page()), GAMES[game_id], random.Random(7)
    server = ScriptedServer(tab.page)
    base_url = service.client.base_url
    tab.embed(site, base_url, f"{base_url}/embed/test/{partner.partner_id}", "token", "100vh")
    server.wait("join")
    state, count, faults = rules.initial(), 0, list[str]()
    while count < MOVES[way]:
        # Each move is made at another size, and four moves later in the other scheme.
        size, scheme = SIZES[count % len(SIZES)], SCHEMES[count // len(SIZES) % len(SCHEMES)]
        tab.page.set_viewport_size({"width": size[0], "height": size[1]})
        tab.page.emulate_media(color_scheme=scheme)
        if not rules.legal_moves(state):
            state = rules.initial()
        moves = rules.legal_moves(state)
        # This tab plays both sides: each position is sent as a match of its own.
        turn = rules.turn(state)
        fields = {"matchId": f"mat_{count}", "ply": count, "you": turn, "turn": turn}
        server.send(snapshot(game_id, rules.view(state), list(moves), **fields))
        move = choose.choice(moves)
        tab.sees("pass" if PASS in moves else "our turn")
        found = tab.page.frames[1].evaluate(FAULTS, list(size))
        faults += [f"move {count}, {size}, {scheme}: {one}" for one in found]
        _press(tab, game_id, move, way)
        count += 1
        sent = server.wait("move", count)
        assert (sent["matchId"], sent["move"]) == (f"mat_{count - 1}", move)
        state = rules.apply(state, move)
        server.send({**ENDED, "matchId": f"mat_{count - 1}"})
    last, moves = rules.view(state), rules.legal_moves(state)
    server.send(snapshot(game_id, last, list(moves), matchId="mat_end", turn=1, ply=count))
    tab.sees("is thinking")
    assert tab.frame.locator(".cell .mark").count() == _men_in(last)
    assert faults == []
    assert tab.errors == []
    context.close()
