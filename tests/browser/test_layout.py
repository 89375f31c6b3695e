"""Every control of every game and state is visible at every size; axe-core finds no fault."""

from typing import Final, Literal

import pytest

from tests.browser.axe import axe_faults
from tests.browser.positions import GAMES, SIZES, STATES
from tests.browser.shown import Shown

pytestmark = pytest.mark.browser

SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")

FAULTS: Final = """async ([width, height]) => {
  const frame = () => new Promise(requestAnimationFrame);
  // The window has its new size only some time after it was told, on a busy machine later.
  const enough = performance.now() + 60_000;
  while ((innerWidth !== width || innerHeight !== height) && performance.now() < enough) {
    await frame();
  }
  await frame();
  await frame();
  const faults = [];
  if (innerHeight !== height) faults.push(`the frame wants ${innerHeight} pixels`);
  for (const box of document.querySelectorAll(".app, .card")) {
    if (box.scrollHeight > box.clientHeight + 1) faults.push(`${box.className} scrolls`);
    if (box.scrollWidth > box.clientWidth + 1) faults.push(`${box.className} is too wide`);
  }
  const needed = "button, select, .clock, .headline, .card p, .name, .plate .count";
  for (const one of document.querySelectorAll(needed)) {
    const box = one.getBoundingClientRect();
    if (box.width === 0) continue;
    const name = one.getAttribute("aria-label") ?? one.textContent;
    const inside = box.left >= -0.5 && box.top >= -0.5 &&
      box.right <= width + 0.5 && box.bottom <= height + 0.5;
    if (!inside) faults.push(`${name} is outside: ${JSON.stringify(box)}`);
    if (!one.matches("button, select") || one.closest("[inert]")) continue;
    const top = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
    if (!one.contains(top)) faults.push(`${name} is covered by ${top?.outerHTML.slice(0, 80)}`);
    const least = one.closest(".board") ? 24 : 30;
    const isCell = one.closest(".board") !== null;
    if (Math.min(box.width, box.height) < least && !isCell) faults.push(`${name} is small`);
    if (isCell && box.width < least) faults.push(`${name} is a small cell`);
  }
  return faults;
}"""


LOCALES: Final = {"en-US": None, "de-DE": "", "ar-EG": ""}
"""Languages: one with long words, and one from right to left. The texts to wait for are English."""

_IN_EVERY_LANGUAGE = pytest.mark.parametrize(
    ("shown", "game", "locale"),
    [((game, locale), game, locale) for game in GAMES for locale in LOCALES],
    indirect=["shown"],
    ids=[f"{game}-{locale}" for game in GAMES for locale in LOCALES],
)


@_IN_EVERY_LANGUAGE
def test_every_control_is_visible_in_every_box_and_scheme(
    shown: Shown, game: str, locale: str
) -> None:
    faults = []
    page = shown.tab.page
    for state in (state for state in STATES if game in state.games):
        shown.show(game, state, LOCALES[locale])
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            for scheme in SCHEMES:
                page.emulate_media(color_scheme=scheme)
                found = shown.document.evaluate(FAULTS, [width, height])
                faults += [f"{state.name}, {width}x{height}, {scheme}: {one}" for one in found]
        shown.leave(state)
    assert faults == []
    assert shown.tab.errors == []


@_IN_EVERY_LANGUAGE
def test_axe_finds_no_fault_in_any_state(shown: Shown, game: str, locale: str) -> None:
    faults = []
    for size, state in enumerate(state for state in STATES if game in state.games):
        width, height = SIZES[size % len(SIZES)]
        shown.tab.page.set_viewport_size({"width": width, "height": height})
        shown.show(game, state, LOCALES[locale])
        for scheme in SCHEMES:
            shown.tab.page.emulate_media(color_scheme=scheme)
            found = axe_faults(shown.document)
            faults += [f"{state.name}, {width}x{height}, {scheme}: {one}" for one in found]
        shown.leave(state)
    assert faults == []
