import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadGame } from '../src/frame/boards';
import { receive, START } from '../src/frame/play';
import type { Play } from '../src/frame/play';
import type { Published } from '../src/frame/published';
import { cueOf } from '../src/frame/sound-cues';
import { BUILT_IN } from '../src/frame/words/locale';
import { moved, snapshot } from './fake-browser';

await loadGame('chess', () => {});

const published = (play: Play): Published => ({
  play,
  locale: BUILT_IN,
  announced: [],
  low: false,
  refusal: null,
  past: null,
  again: 'no',
});

const BEFORE = '4k3/8/8/3p4/4P3/8/8/4K2R';

/** Returns the sound of a move that leads to a position. */
function cue(placement: string, check: boolean, by: 0 | 1, hidden = false) {
  const state = { fen: `${BEFORE} w - - 0 1`, check: false };
  const given = { gameId: 'chess', state, legalMoves: ['e4d5'] };
  const before = receive(START, snapshot(given) as never);
  const next = { by, move: 'e4d5', state: { fen: `${placement} b - - 0 1`, check } };
  const after = receive(before, moved(next) as never);
  return cueOf(published(before), published(after), hidden);
}

test('a quiet move, a capture and a check each sound different', () => {
  assert.equal(cue('4k3/8/8/3pP3/8/8/8/4K2R', false, 0), 'place');
  assert.equal(cue('4k3/8/8/3pP3/8/8/8/4K2R', false, 1), 'theirs');
  assert.equal(cue('4k3/8/8/3P4/8/8/8/4K2R', false, 0), 'take');
  assert.equal(cue('4k3/8/8/3P4/8/8/8/4K2R', false, 1), 'take');
  assert.equal(cue('4k2R/8/8/3p4/4P3/8/8/4K3', true, 1), 'check');
});

test('a promotion is no capture', () => {
  assert.equal(cue('4k3/8/8/3p4/4Q3/8/8/4K2R', false, 0), 'place');
});

test('a player who looks elsewhere is called to the board, also by a check', () => {
  assert.equal(cue('4k2R/8/8/3p4/4P3/8/8/4K3', true, 1, true), 'turn');
  assert.equal(cue('4k2R/8/8/3p4/4P3/8/8/4K3', true, 0, true), 'check');
});

test('a move sounds when it is seen, and only then', () => {
  const state = { fen: `${BEFORE} w - - 0 1`, check: false };
  const given = { gameId: 'chess', state, legalMoves: ['e4d5'] };
  const before = receive(START, snapshot(given) as never);
  const sent = { ...before, pendingMove: { matchId: 'mat_1', ply: 0, move: 'e4d5' } };
  const next = { by: 0, move: 'e4d5', state: { fen: '4k3/8/8/3P4/8/8/8/4K2R b - - 0 1' } };
  const after = receive(sent, moved(next) as never);
  const refused = receive(sent, { type: 'error', reason: 'rate_limited' } as never);
  assert.equal(cueOf(published(before), published(sent), false), 'take');
  assert.equal(cueOf(published(sent), published(after), false), null);
  assert.equal(cueOf(published(sent), published(refused), false), null);
});
