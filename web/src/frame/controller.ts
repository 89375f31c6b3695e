/** Connects the game client, the play and the page around the frame, and publishes what to draw. */

import { GameClient } from './game-client';
import type { Browser, SocketState } from './game-client';
import type { HostPage } from './host-page';
import { isRunning, mayMove, pageState, receive, START } from './play';
import type { Play } from './play';
import type { ServerMessage } from './protocol';
import { announcement } from './words';

/** How long a result is shown before the frame asks for the player's next match. */
const NEXT_MATCH_MS = 4000;
/** How long the frame waits before it joins again after a temporary refusal. */
const JOIN_AGAIN_MS = 2000;

/** The refusals of a move after which the board on the screen must be out of date. */
const OUT_OF_DATE = new Set(['stale_ply', 'not_your_turn', 'illegal_move', 'match_over']);
/** The refusals that pass by themselves while the socket stays open. */
const TEMPORARY = new Set(['registry_unavailable', 'rate_limited']);
/** The refusals of a join that show that the match is no longer there. */
const MATCH_GONE = new Set(['match_not_found', 'match_over', 'cross_environment_join']);

export interface Published {
  play: Play;
  /** What screen readers say. `count` rises with each announcement, even for the same text. */
  announced: { text: string; count: number };
}

export class Controller {
  published: Published = { play: START, announced: { text: '', count: 0 } };
  readonly #browser: Browser;
  readonly #page: Pick<HostPage, 'send'>;
  readonly #client: GameClient;
  #onChange: (published: Published) => void = () => {};
  #token: string | null = null;
  /** The match of the last join, or null if it named none. */
  #joining: string | null = null;
  #cancelJoin: () => void = () => {};

  constructor(browser: Browser, page: Pick<HostPage, 'send'>) {
    this.#browser = browser;
    this.#page = page;
    this.#client = new GameClient(browser, {
      onSocketState: (state) => this.#onSocketState(state),
      onSession: (session, aheadMs) => this.#show({ ...this.published.play, session, aheadMs }),
      onMessage: (message) => this.#onMessage(message),
    });
  }

  /** Calls `onChange` with what is published now and with each change. There is one subscriber. */
  subscribe(onChange: (published: Published) => void): void {
    this.#onChange = onChange;
    onChange(this.published);
  }

  /** Connects with a token from the host page, unless that token is in use already. */
  setToken(token: string): void {
    const { kind } = this.published.play.socket;
    if (token === this.#token && kind !== 'stopped' && kind !== 'idle') return;
    this.#token = token;
    this.#client.start(token);
  }

  /** Connects again after another window of the player has taken over. */
  takeOver(): void {
    if (this.#token !== null) this.#client.start(this.#token);
  }

  /** Reconnects now, if the client waits before the next attempt. */
  retryNow(): void {
    this.#client.retryNow();
  }

  /** Sends a move, if it is legal and the player may move. */
  move(move: string): void {
    const { play } = this.published;
    if (!mayMove(play) || play.match === null || !play.match.legalMoves.includes(move)) return;
    const { matchId, ply } = play.match;
    this.#show({ ...play, pendingMove: { matchId, ply, move } });
    this.#client.send({ type: 'move', matchId, ply, move });
  }

  resign(): void {
    const matchId = runningMatchId(this.published.play);
    if (matchId !== null) this.#client.send({ type: 'resign', matchId });
  }

  #onSocketState(socket: SocketState): void {
    const before = this.published.play.socket;
    this.#show({ ...this.published.play, socket });
    if (socket.kind === 'open') this.#cancelJoin();
    // The host page hears of each outage once, however many attempts it takes.
    const outage = socket.kind === 'retrying' && before.kind !== 'retrying';
    if (socket.kind === 'stopped' || outage) {
      this.#page.send({ type: 'pgs.error', reason: socket.reason });
    }
  }

  /** Joins a match, or the player's oldest running match if `matchId` is null. */
  #join(matchId: string | null): void {
    this.#joining = matchId;
    this.#client.send(matchId === null ? { type: 'join' } : { type: 'join', matchId });
  }

  #joinLater(ms: number, matchId: string | null): void {
    this.#cancelJoin();
    this.#cancelJoin = this.#browser.after(ms, () => this.#join(matchId));
  }

  #onMessage(message: ServerMessage): void {
    const before = this.published.play;
    if (message.type === 'welcome') {
      this.#join(runningMatchId(before));
      return;
    }
    const after = receive(before, message);
    this.#show(after);
    if (message.type === 'snapshot' && after.pendingMove !== null) {
      // The move may have been lost with the connection. If not, the server ignores this one.
      this.#client.send({ type: 'move', ...after.pendingMove });
    } else if (message.type === 'ended' && after.ending?.matchId === message.matchId) {
      this.#joinLater(NEXT_MATCH_MS, null);
    } else if (message.type === 'error') {
      this.#onRefusal(message.reason, before);
    }
  }

  #onRefusal(reason: string, before: Play): void {
    if (before.pendingMove !== null && before.match !== null && OUT_OF_DATE.has(reason)) {
      this.#join(before.match.matchId);
    } else if (this.#joining !== null && MATCH_GONE.has(reason)) {
      // The match ended while the connection was lost. The server no longer sends its end.
      this.#show({ ...this.published.play, match: null, ending: null });
      this.#join(null);
    } else if (TEMPORARY.has(reason)) {
      this.#joinLater(JOIN_AGAIN_MS, runningMatchId(before));
    } else if (reason !== 'bad_message') {
      this.#page.send({ type: 'pgs.error', reason });
    }
  }

  #show(play: Play): void {
    const { play: before, announced } = this.published;
    const text = announcement(before, play);
    this.published = {
      play,
      announced: text === null ? announced : { text, count: announced.count + 1 },
    };
    this.#onChange(this.published);
    const state = pageState(play);
    if (JSON.stringify(state) !== JSON.stringify(pageState(before))) {
      this.#page.send({ type: 'pgs.state', ...state });
    }
    if (play.ending !== null && play.ending !== before.ending) {
      this.#page.send({ type: 'pgs.ended', ...play.ending });
    }
  }
}

function runningMatchId(play: Play): string | null {
  return isRunning(play) && play.match !== null ? play.match.matchId : null;
}
