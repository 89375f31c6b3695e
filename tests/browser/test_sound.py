"""The sounds of the frame, rendered by the browser without a loudspeaker."""

from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from pgs.actors.messages.account.settings import AddOrigin
from pgs.domain.members import PLATFORM
from tests.browser.chromium import Tab
from tests.browser.scripted_server import ScriptedServer
from tests.conventions.tree import SOURCE
from tests.journeys.partners import Partner
from tests.journeys.service import SharedService

pytestmark = pytest.mark.browser

CUES = ("place", "theirs", "take", "check", "turn", "low", "won", "over")
LOUD, LOUDEST, LONGEST_S = 0.02, 0.35, 0.7
"""The bounds of a cue: its peak, where 1 would be clipped, and its length."""

_RENDER = """async ([script, cue]) => {
  const rate = 44100;
  const offline = new OfflineAudioContext(1, 2 * rate, rate);
  window.AudioContext = function () { return offline; };
  const { play } = await import(`${script}?${cue}`);
  play(cue);
  const samples = (await offline.startRendering()).getChannelData(0);
  const heard = [...samples.keys()].filter((at) => Math.abs(samples[at]) > 0.001);
  const end = heard.at(-1);
  let crossings = 0;
  for (let at = 1; at < end; at += 1) if (samples[at - 1] < 0 !== samples[at] < 0) crossings += 1;
  const peak = samples.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
  return { peak, lastsS: end / rate, pitch: crossings / 2 / (end / rate) };
}"""


def test_every_sound_is_heard_is_short_is_not_clipped_and_has_its_own_pitch(
    browser: Browser, service: SharedService, partner: Partner
) -> None:
    built = (SOURCE / "web" / "frame").glob("pgs-frame-*.js")
    (script,) = (path.name for path in built if "createOscillator" in path.read_text())
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(f"{service.client.base_url}/embed/test/{partner.partner_id}")
    heard: dict[str, dict[str, Any]] = {
        cue: page.evaluate(_RENDER, [f"/embed/{script}", cue]) for cue in CUES
    }
    context.close()
    for cue, sound in heard.items():
        assert LOUD < sound["peak"] < LOUDEST, (cue, sound)
        assert sound["lastsS"] < LONGEST_S, (cue, sound)
    pitches = sorted(sound["pitch"] for sound in heard.values())
    steps = [high / low for low, high in pairwise(pitches)]
    assert min(steps) > 1.05, heard


def _opened(tab: Tab, service: SharedService, partner: Partner, site: str) -> ScriptedServer:
    server = ScriptedServer(tab.page)
    base = str(service.client.base_url)
    tab.embed(site, base, f"{base}/embed/test/{partner.partner_id}", "pgs1.any-token_~")
    server.wait("join")
    return server


def test_the_choice_of_sound_outlives_the_page_and_nothing_else_is_kept(
    tabs: list[Tab], service: SharedService, partner: Partner, site: str
) -> None:
    # Chromium gives a frame of another site no storage in a profile that is not kept.
    near = site.replace("localhost", "127.0.0.1")
    service.account(partner, AddOrigin(PLATFORM, "test", near))
    tab = tabs[0]
    server = _opened(tab, service, partner, near)
    sound = tab.frame.get_by_role("button", name="Sound")
    for joins, before, after in ((2, "false", "true"), (3, "true", "false")):
        expect(sound).to_have_attribute("aria-pressed", before)
        sound.click()
        tab.reload()
        server.wait("join", joins)
        expect(sound).to_have_attribute("aria-pressed", after)
    stored = tab.frame.locator("body").evaluate("() => [{...localStorage}, {...sessionStorage}]")
    assert stored == [{"pgsSound": "0"}, {}]
    assert tab.errors == []


def test_a_frame_without_storage_still_has_its_sounds(
    tabs: list[Tab], service: SharedService, partner: Partner, site: str
) -> None:
    tab = tabs[0]
    _opened(tab, service, partner, site)
    refused = "() => { try { return !localStorage } catch { return true } }"
    assert tab.frame.locator("body").evaluate(refused) is True
    sound = tab.frame.get_by_role("button", name="Sound")
    sound.click()
    expect(sound).to_have_attribute("aria-pressed", "true")
    assert tab.errors == []
