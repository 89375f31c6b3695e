/**
 * The frame with a match that nobody plays, for the page on which a theme is edited. It draws what
 * the frame draws. It takes the theme from the page around it, and connects to nothing.
 */

import { render } from 'preact';
import { addKit } from './boards';
import { kit } from './boards/discs-kit';
import type { Controller } from './controller';
import type { Published } from './published';
import { receive, START } from './play';
import type { Play } from './play';
import type { Theme } from './protocol';
import { adoptOwnStyles, adoptStyles } from './styles';
import { Frame } from './view/frame';
import { BUILT_IN } from './words/locale';

export type Moment = 'waiting' | 'playing' | 'won';

interface Asked {
  type: 'pgs.preview';
  theme: Theme;
  moment: Moment;
}

/** What is left on the player's clock, in milliseconds. */
const LEFT_MS = 21_000;
const MATCH = 'mat_preview';
const AMOUNTS = { stakeUsdCents: 500, prizeUsdCents: 900 };

/** A position of connect-four, its topmost row first: `a` is the player, `b` the opponent. */
const ROWS = ['.......', '.......', '...b...', '..ab...', '..abb..', '.baaab.'];

const sideOf = (letter: string) => ({ a: 0, b: 1 })[letter] ?? null;
const BOARD = [...ROWS].reverse().map((row) => [...row].map(sideOf));

function playOf(theme: Theme, moment: Moment, now: number): Play {
  const session = { playerId: 'p', displayName: 'kit-204', gameId: 'connect-four', theme };
  const open: Play = { ...START, socket: { kind: 'open' }, session };
  if (moment === 'waiting') {
    const seatedAt = Math.floor(now / 1000);
    const seat = { seatId: 'sea_preview', seatedAt, expiresAt: seatedAt + 900, ...AMOUNTS };
    return receive(open, { type: 'waiting', gameId: 'connect-four', ...seat });
  }
  const playing = receive(open, {
    type: 'snapshot',
    matchId: MATCH,
    gameId: 'connect-four',
    seq: 1,
    ply: 11,
    you: 0,
    turn: 0,
    state: { board: BOARD, last: 'd4' },
    legalMoves: ['1', '2', '3', '4', '5', '6', '7'],
    opponent: { displayName: 'wren-118', connected: true },
    deadlineAtMs: now + LEFT_MS,
    ...AMOUNTS,
  });
  if (moment === 'playing') return playing;
  return receive(playing, {
    type: 'ended',
    matchId: MATCH,
    outcome: 'ended',
    result: 'won',
    endReason: 'resigned',
    dueUsdCents: AMOUNTS.prizeUsdCents,
  });
}

/** Takes the place of the frame's controller. Its methods do nothing. */
class Still {
  published: Published;
  #onChange: (published: Published) => void = () => {};

  constructor() {
    const shown = { announced: [], low: false, refusal: null, again: 'offered' as const };
    this.published = { play: START, locale: BUILT_IN, past: null, ...shown };
  }

  subscribe(onChange: (published: Published) => void): void {
    this.#onChange = onChange;
    onChange(this.published);
  }

  show(play: Play): void {
    this.published = { ...this.published, play };
    this.#onChange(this.published);
  }

  needsHeight(): void {}
  look(): void {}
  step(): void {}
  move(): void {}
  refusePress(): void {}
  resign(): void {}
  playAgain(): void {}
  switchTo(): void {}
  takeOver(): void {}
  retryNow(): void {}
}

const still = new Still();
adoptOwnStyles();
addEventListener('message', (event) => {
  if (event.source !== parent || event.origin !== location.origin) return;
  const asked = event.data as Asked | null;
  if (asked?.type !== 'pgs.preview') return;
  // The default theme follows the system's scheme. A theme that is being edited does not.
  still.show(playOf({ ...asked.theme, revision: 1 }, asked.moment, Date.now()));
});
addKit(kit, adoptStyles);
render(
  <Frame controller={still as unknown as Controller} framed />,
  document.getElementById('app')!,
);
parent.postMessage({ type: 'pgs.preview.ready' }, location.origin);
