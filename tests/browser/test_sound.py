"""The sounds of the frame, rendered by the browser without a loudspeaker."""

from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Browser

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
