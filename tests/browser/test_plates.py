"""The plates of both players: the name, the clock, and what each move adds to it."""

from typing import Any, Final

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.positions import GAMES, LOW_MS, SIZES, STATES, State
from tests.browser.scripted_server import snapshot
from tests.browser.shown import Shown, showing
from tests.browser.test_cards import LANGUAGES
from tests.journeys.partners import Partner
from tests.journeys.service import SharedService

pytestmark = pytest.mark.browser

NAMED: Final = {state.name: state for state in STATES}

NAME: Final = "Jonas Berger"
"""An ordinary name, of twelve letters."""

_CUT: Final = """async ([width, height]) => {
  const frame = () => new Promise(requestAnimationFrame);
  while (innerWidth !== width || innerHeight !== height) await frame();
  await frame();
  const parts = document.querySelectorAll(".name, .sub > span:first-child, .count, .clock");
  const cut = [...parts].filter((part) => {
    const [box, line] = [part.getBoundingClientRect(), part.parentElement.getBoundingClientRect()];
    if (box.width === 0) return false;
    const inner = part.scrollWidth > part.clientWidth + 1;
    return inner || (line.width > 0 && (box.left < line.left - 1 || box.right > line.right + 1));
  });
  const boxes = [...parts].map((part) => [part, part.getBoundingClientRect()]);
  const over = boxes.filter(([one, a]) => boxes.some(([other, b]) => one !== other &&
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3));
  return [...cut.map((part) => part.outerHTML), ...over.map(([part]) => `over: ${part.outerHTML}`)];
}"""


def _speak(shown: Shown, language: str) -> None:
    shown.says(f"{{ type: 'pgs.host', again: true, lang: '{language}' }}")
    expect(shown.tab.frame.locator("html")).to_have_attribute("lang", language)


def _match(shown: Shown, game: str, **fields: Any) -> None:
    """Show a match against an opponent with an ordinary name, both clocks low."""
    now = shown.tab.page.evaluate("Date.now()")
    clocks: dict[str, Any] = {"deadlineAtMs": now + LOW_MS}
    if game == "chess":
        clocks |= {"remainingMs": [LOW_MS, LOW_MS], "incrementMs": 3_000}
    state, moves = GAMES[game]
    opponent = {"playerId": "bob", "displayName": NAME, "connected": True}
    shown.server.send(snapshot(game, state, moves, opponent=opponent, **clocks, **fields))


@pytest.mark.parametrize("game", GAMES)
def test_an_ordinary_name_and_all_beside_it_are_whole_when_time_is_low(
    browser: Browser, service: SharedService, partner: Partner, site: str, game: str
) -> None:
    faults = []
    base = service.client.base_url
    with showing(browser, base, partner.partner_id, site, game, NAME) as shown:
        for number, language in enumerate(["en", *LANGUAGES]):
            _speak(shown, language)
            for width, height in SIZES:
                shown.tab.page.set_viewport_size({"width": width, "height": height})
                for turn, plate in enumerate((".own", ".opp")):
                    _match(shown, game, turn=turn, seq=10_000 * number + 2 * width + turn)
                    shown.tab.frame.locator(f"{plate} .clock.low").wait_for()
                    cut = shown.document.evaluate(_CUT, [width, height])
                    faults += [f"{language}, {width}x{height}: {one}" for one in cut]
    assert faults == []


@pytest.mark.parametrize("shown", ["chess"], indirect=True)
@pytest.mark.parametrize(
    ("language", "mark", "words"),
    [
        ("en", "+3", "Each move adds 3 seconds."),
        ("de", "+3", "Jeder Zug bringt 3 Sekunden."),
        ("ar-EG", "+٣", "تضيف كل نقلة ٣ ثوانٍ."),
    ],
)
def test_both_clocks_show_what_a_move_adds_and_say_it_in_words(
    shown: Shown, language: str, mark: str, words: str
) -> None:
    _speak(shown, language)
    shown.show("chess", NAMED["your turn"], "")
    clocks = shown.tab.frame.get_by_role("timer")
    expect(clocks).to_have_count(2)
    for clock in clocks.all():
        expect(clock.locator("small")).to_have_text(mark)
        label = clock.get_attribute("aria-label") or ""
        assert label.endswith(f". {words}"), label
        # In both directions of writing it stands after the time, with its sign in front.
        assert clock.evaluate(
            """clock => {
              const range = document.createRange();
              range.selectNode(clock.querySelector("small"));
              const added = range.getBoundingClientRect();
              range.selectNode([...clock.childNodes].find((node) => node.nodeType === 3));
              return range.getBoundingClientRect().right <= added.left &&
                getComputedStyle(clock).direction === "ltr";
            }"""
        )
    expect(shown.tab.frame.locator(".dock p")).to_have_text(words)
    expect(shown.tab.frame.get_by_role("log")).to_contain_text(words)


@pytest.mark.parametrize("shown", ["chess"], indirect=True)
def test_what_a_move_adds_is_told_in_the_sentence_only_before_ones_first_move(shown: Shown) -> None:
    third = {"ply": 2, "moves": ["e2e4", "e7e5"]}
    shown.show("chess", State("later", snapshot=third, sees="Your turn"))
    expect(shown.tab.frame.locator(".dock p")).to_have_text("Choose a piece.")
    expect(shown.tab.frame.locator(".clock small")).to_have_count(2)


def test_a_clock_to_which_moves_add_nothing_shows_no_mark(shown: Shown) -> None:
    shown.show("tic-tac-toe", NAMED["your turn"])
    clock = shown.tab.frame.get_by_role("timer")
    expect(clock).to_have_count(1)
    expect(clock.locator("small")).to_have_count(0)
    expect(clock).to_have_attribute("aria-label", "60:00 left")


@pytest.mark.parametrize("shown", ["chess"], indirect=True)
@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("stalemate", "Stalemate: no legal move."),
        ("insufficient_material", "Too few pieces for a mate."),
        ("repetition", "The same position for the third time."),
        ("fifty_moves", "Fifty moves without a capture or pawn move."),
    ],
)
def test_a_draw_at_chess_names_its_rule(shown: Shown, rule: str, told: str) -> None:
    shown.show("chess", NAMED[f"drawn by {rule}"])
    expect(shown.tab.frame.locator(".dock p")).to_contain_text(f"{told} Your stake of $500.00")
    expect(shown.tab.frame.get_by_role("log")).to_contain_text(f"A draw. {told}")


@pytest.mark.parametrize("shown", ["chess"], indirect=True)
def test_a_draw_by_a_rule_that_the_frame_does_not_know_is_told_without_it(shown: Shown) -> None:
    state = {"fen": GAMES["chess"][0]["fen"], "check": False, "draw": "toString"}
    drawn = State("drawn", snapshot={"state": state}, ended=NAMED["drawn"].ended, sees="A draw")
    shown.show("chess", drawn)
    expect(shown.tab.frame.locator(".dock p")).to_have_text("Your stake of $500.00 is back.")


@pytest.mark.parametrize("shown", ["chess"], indirect=True)
@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("name", ["their turn", "won"])
def test_the_strip_of_moves_touches_nothing_in_the_bar(
    shown: Shown, language: str, name: str
) -> None:
    shown.tab.page.set_viewport_size({"width": 320, "height": 480})
    _speak(shown, language)
    moves = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5", "d2d3", "d7d6"]
    played = {"turn": 1, "ply": len(moves), "moves": moves}
    shown.show("chess", State(name, snapshot=played, ended=NAMED[name].ended), "")
    gaps = shown.document.evaluate(
        """() => {
          const strip = document.querySelector("ol.moves").getBoundingClientRect();
          const boxes = [...document.querySelectorAll(".bar .pot, .bar .net, .bar .tool")]
            .map((part) => part.getBoundingClientRect()).filter((box) => box.width > 0);
          return boxes.map((box) => Math.max(box.left - strip.right, strip.left - box.right));
        }"""
    )
    assert len(gaps) >= 2
    assert min(gaps) >= 4
