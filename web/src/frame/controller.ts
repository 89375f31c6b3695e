/** Ties the connection, the play and the host page together; the view draws what it publishes. */

import { Connection } from './connection';
import type { Link, Surroundings } from './connection';
import type { Host } from './host';
import { mayMove, receive, runs, START, stateFor } from './play';
import type { Play } from './play';
import type { ServerMessage } from './protocol';
import { announcement } from './words';

/** How long a result stays before the frame asks for the player's next match. */
const NEXT_MATCH_MS = 4000;

const REJOIN = new Set(['stale_ply', 'not_your_turn', 'illegal_move', 'match_over']);
/** What passes by itself, while the socket lives on. */
const PASSING = new Set(['registry_unavailable', 'rate_limited']);
const AGAIN_MS = 2000;
const GONE = new Set(['match_not_found', 'match_over', 'cross_environment_join']);

export interface Published {
  play: Play;
  /** What a screen reader says; `nth` tells two equal sentences apart. */
  said: { text: string; nth: number };
}

export class Controller {
  published: Published = { play: START, said: { text: '', nth: 0 } };
  readonly #around: Surroundings;
  readonly #host: Pick<Host, 'tell'>;
  readonly #connection: Connection;
  #onChange: (published: Published) => void = () => {};
  #token: string | null = null;
  #joining: string | null = null;
  #callOff: () => void = () => {};

  constructor(around: Surroundings, host: Pick<Host, 'tell'>) {
    this.#around = around;
    this.#host = host;
    this.#connection = new Connection(around, {
      link: (link) => this.#linked(link),
      session: (session, aheadMs) => this.#show({ ...this.published.play, session, aheadMs }),
      message: (message) => this.#heard(message),
    });
  }

  watch(onChange: (published: Published) => void): void {
    this.#onChange = onChange;
    onChange(this.published);
  }

  /** Takes the token that the host page handed over. The one that is in use already changes nothing. */
  use(token: string): void {
    const { kind } = this.published.play.link;
    if (token === this.#token && kind !== 'stopped' && kind !== 'idle') return;
    this.#token = token;
    this.#connection.start(token);
  }

  /** Connects again after a newer window has taken over. */
  takeOver(): void {
    if (this.#token !== null) this.#connection.start(this.#token);
  }

  hurry(): void {
    this.#connection.hurry();
  }

  move(move: string): void {
    const { play } = this.published;
    if (!mayMove(play) || play.match === null || !play.match.legalMoves.includes(move)) return;
    const { matchId, ply } = play.match;
    this.#show({ ...play, sent: { matchId, ply, move } });
    this.#connection.send({ type: 'move', matchId, ply, move });
  }

  resign(): void {
    const { play } = this.published;
    if (runs(play) && play.match !== null) this.#connection.send({ type: 'resign', matchId: play.match.matchId });
  }

  #linked(link: Link): void {
    const before = this.published.play.link;
    this.#show({ ...this.published.play, link });
    if (link.kind === 'open') this.#callOff();
    else if (link.kind === 'stopped' || (link.kind === 'retrying' && before.kind !== 'retrying')) {
      this.#host.tell({ type: 'pgs.error', reason: link.reason });
    }
  }

  #join(matchId: string | null): void {
    this.#joining = matchId;
    this.#connection.send(matchId === null ? { type: 'join' } : { type: 'join', matchId });
  }

  #heard(message: ServerMessage): void {
    const before = this.published.play;
    if (message.type === 'welcome') {
      this.#join(before.match !== null && runs(before) ? before.match.matchId : null);
      return;
    }
    const after = receive(before, message, this.#around.now());
    this.#show(after);
    if (message.type === 'snapshot' && after.sent !== null) {
      // The connection was lost with the move: sent twice it counts once.
      this.#connection.send({ type: 'move', ...after.sent });
    } else if (message.type === 'ended' && after.ending?.matchId === message.matchId) {
      this.#callOff();
      this.#callOff = this.#around.after(NEXT_MATCH_MS, () => this.#join(null));
    } else if (message.type === 'error') {
      this.#refused(message.reason, before);
    }
  }

  #refused(reason: string, before: Play): void {
    const { match } = before;
    if (before.sent !== null && match !== null && REJOIN.has(reason)) this.#join(match.matchId);
    else if (this.#joining !== null && GONE.has(reason)) {
      // What was on the screen ended while the connection was lost, too long ago for its end to be told.
      this.#show({ ...this.published.play, match: null, ending: null });
      this.#join(null);
    } else if (PASSING.has(reason)) {
      this.#callOff();
      this.#callOff = this.#around.after(AGAIN_MS, () => this.#join(match !== null && runs(before) ? match.matchId : null));
    } else if (reason !== 'bad_message') this.#host.tell({ type: 'pgs.error', reason });
  }

  #show(play: Play): void {
    const before = this.published.play;
    const text = announcement(before, play);
    const { said } = this.published;
    this.published = { play, said: text === null ? said : { text, nth: said.nth + 1 } };
    this.#onChange(this.published);
    const told = stateFor(play);
    if (JSON.stringify(told) !== JSON.stringify(stateFor(before))) this.#host.tell({ type: 'pgs.state', ...told });
    if (play.ending !== null && play.ending !== before.ending) this.#host.tell({ type: 'pgs.ended', ...play.ending });
  }
}
