/** Connects the game client, the play and the page around the frame, and publishes what to draw. */

import { Announcer } from './announcer';
import { adapterOf, isGame, loadGame } from './boards';
import { GameClient } from './game-client';
import type { Browser, SocketState } from './game-client';
import type { Document, HostPage } from './host-page';
import { statesOf } from './history';
import { isRunning, mayMove, pageState, receive, runningMatchId } from './play';
import type { Published } from './published';
import { LOW_MS, START, switchTo, timeLeft } from './play';
import type { Play } from './play';
import type { ServerMessage, Session } from './protocol';
import { announcements, lookText, refusalKey } from './sentences';
import { BUILT_IN, chooseLanguage, localeOf } from './words/locale';

/** How long a result is shown before the frame asks for the player's next match. */
const NEXT_MATCH_MS = 4000;
/** How long the frame waits before it joins again after a temporary refusal. */
const JOIN_AGAIN_MS = 2000;
/** How long the page has to take another seat. After this time the player may ask again. */
const AGAIN_MS = 20_000;
/**
 * How many other matches are joined at most. Each join is a message, and the service closes a
 * socket that sends too many messages.
 */
const OTHERS_MAX = 8;
/** How many messages wait while a game is loaded. With more, the frame connects again. */
const HELD_MAX = 200;

/** Each of these refusals of a move shows that the board on the screen is out of date. */
const OUT_OF_DATE = new Set(['stale_ply', 'not_your_turn', 'illegal_move', 'match_over']);
/** The refusals that pass by themselves while the socket stays open. */
const TEMPORARY = new Set(['registry_unavailable', 'rate_limited']);
/** The refusals of a join that show that the match is no longer there. */
const MATCH_GONE = new Set(['match_not_found', 'match_over', 'cross_environment_join']);

export class Controller {
  published: Published = {
    play: START,
    locale: BUILT_IN,
    announced: [],
    low: false,
    refusal: null,
    past: null,
    again: 'no',
  };
  readonly #browser: Browser;
  readonly #page: Pick<HostPage, 'send'>;
  readonly #document: Document | null;
  readonly #client: GameClient;
  readonly #announcer = new Announcer();
  #onChange: (published: Published) => void = () => {};
  #token: string | null = null;
  /** The match of the last join, or null if it named none. */
  #joining: string | null = null;
  #cancelJoin: () => void = () => {};
  #cancelLow: () => void = () => {};
  #cancelAgain: () => void = () => {};
  /** The deadline of the clock that is watched until it is low. Null while none is watched. */
  #watched: number | null = null;
  /** The messages that wait until a game has been loaded, or null while no game is loading. */
  #held: ServerMessage[] | null = null;
  #language = '';
  #needed = 0;

  /** `document`: the partner and environment whose sessions are taken, or null to take any. */
  constructor(browser: Browser, page: Pick<HostPage, 'send'>, document: Document | null = null) {
    this.#browser = browser;
    this.#page = page;
    this.#document = document;
    this.#client = new GameClient(browser, {
      onSocketState: (state) => this.#onSocketState(state),
      accepts: (session) => this.#accepts(session),
      onSession: (session, aheadMs) => {
        this.#show({ ...this.published.play, session, aheadMs });
        void this.#load(session.gameId);
      },
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

  /** Changes to the first of some languages that has a catalogue. */
  async setLanguage(tags: readonly string[]): Promise<void> {
    const language = chooseLanguage(tags);
    if (language === this.#language) return;
    this.#language = language;
    const found = localeOf(language);
    const locale = found instanceof Promise ? await found : found;
    if (language === this.#language) this.#publish({ locale });
  }

  /** Takes over what the host page says of itself: whether it offers another match. */
  setAgain(offered: boolean): void {
    this.#publish({ again: offered ? 'offered' : 'no' });
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

  /** Shows the position after some of the moves, until the next move. Nothing is sent. */
  look(ply: number): void {
    const { play, past, locale } = this.published;
    const { match } = play;
    if (match === null || statesOf(match) === null) return;
    const at = Math.max(0, Math.min(match.ply, ply));
    if (at === (past ?? match.ply)) return;
    const announced = this.#announcer.add([lookText(match, at, locale)]);
    this.#publish({ past: at === match.ply ? null : at, announced });
  }

  /** Moves the position on the screen forward or back by some moves. */
  step(moves: number): void {
    const { play, past } = this.published;
    this.look((past ?? play.match?.ply ?? 0) + moves);
  }

  /** Answers a press that plays nothing. In an old position it leads back to the newest one. */
  refusePress(): void {
    const { play, past, locale } = this.published;
    if (past !== null) return this.look(Infinity);
    if (!isRunning(play) || play.pendingMove !== null) return;
    const refusal = refusalKey(play);
    const announced = this.#announcer.add([locale.text(refusal)]);
    this.#publish({ refusal, announced });
  }

  resign(): void {
    const matchId = runningMatchId(this.published.play);
    if (matchId !== null) this.#client.send({ type: 'resign', matchId });
  }

  /** Tells the host page that the player wants another match. */
  playAgain(): void {
    const { again } = this.published;
    if (again !== 'offered' && again !== 'late') return;
    this.#publish({ again: 'asked' });
    this.#page.send({ type: 'pgs.again' });
    this.#cancelAgain();
    this.#cancelAgain = this.#browser.after(AGAIN_MS, () => this.#onLate());
  }

  /** Shows another of the player's matches. */
  switchTo(matchId: string): void {
    this.#show(switchTo(this.published.play, matchId));
  }

  /** Tells the host page how many pixels the frame needs, when that has changed. */
  needsHeight(height: number): void {
    if (height === this.#needed) return;
    this.#needed = height;
    this.#page.send({ type: 'pgs.size', height });
  }

  #accepts(session: Session): boolean {
    const { partnerId, environment } = this.#document ?? { partnerId: null, environment: null };
    if (partnerId === null || environment === null) return true;
    const owner = `ptr:${environment}:${partnerId}:`;
    return session.environment === environment && (session.playerUid ?? '').startsWith(owner);
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

  #onWelcome(play: Play): void {
    const shown = runningMatchId(play);
    this.#join(shown);
    // The join above is for the match on the screen or, if none is shown, for the oldest one. Other
    // matches are joined too, but not shown.
    const running = (play.session?.matches ?? []).map((match) => match.matchId);
    const others = running.filter((id, at) => (shown === null ? at > 0 : id !== shown));
    for (const matchId of others.slice(0, OTHERS_MAX)) {
      this.#client.send({ type: 'join', matchId });
    }
  }

  /** Loads a game, and draws it where it is shown. A game that cannot be loaded is not drawn. */
  async #load(gameId: string): Promise<void> {
    try {
      await loadGame(gameId, (styles) => this.#browser.adoptStyles(styles));
    } catch {
      // The card says that the game cannot be shown.
    }
    this.#publish({});
  }

  /** Takes a message, once the game that it is about has been loaded. */
  #onMessage(message: ServerMessage): void {
    if (this.#held !== null) {
      if (this.#held.push(message) > HELD_MAX) this.takeOver();
      return;
    }
    const isNew = message.type === 'snapshot' && adapterOf(message.gameId) === null;
    if (!isNew || !isGame(message.gameId)) {
      this.#take(message);
      return;
    }
    this.#held = [];
    void this.#load(message.gameId).then(() => {
      const held = this.#held ?? [];
      this.#held = null;
      this.#take(message);
      for (const one of held) this.#onMessage(one);
    });
  }

  #take(message: ServerMessage): void {
    const before = this.published.play;
    if (message.type === 'welcome') {
      this.#onWelcome(before);
      return;
    }
    let after = receive(before, message);
    // A player who has asked for another match no longer sees the last result.
    const seatTaken = message.type === 'waiting' && after.seat !== 'none';
    if (seatTaken && ['asked', 'late'].includes(this.published.again)) {
      after = { ...after, match: isRunning(after) ? after.match : null, ending: null };
    }
    this.#show(after);
    if (message.type === 'snapshot' && after.pendingMove !== null) {
      // The move may have been lost with the connection. If not, the server ignores this one.
      this.#client.send({ type: 'move', ...after.pendingMove });
    } else if (message.type === 'ended') {
      const { matchId, outcome, result = null, endReason = null, dueUsdCents = null } = message;
      const ended = { matchId, outcome, result, endReason, dueUsdCents };
      this.#page.send({ type: 'pgs.ended', ...ended });
      if (after.ending?.matchId === matchId) this.#joinLater(NEXT_MATCH_MS, null);
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
    const { play: before, locale, again, past } = this.published;
    const announced = this.#announcer.add(announcements(before, play, locale));
    const started = play.match !== null && play.match.matchId !== before.match?.matchId;
    const waits = again === 'asked' || again === 'late';
    const offered = waits && (started || play.seat !== before.seat);
    this.#publish({
      play,
      announced,
      refusal: null,
      past: !started && play.match?.ply === before.match?.ply ? past : null,
      low: this.#isLow(play),
      again: offered ? 'offered' : again,
    });
    const state = pageState(play);
    if (state !== null && JSON.stringify(state) !== JSON.stringify(pageState(before))) {
      this.#page.send({ type: 'pgs.state', ...state });
    }
  }

  #publish(change: Partial<Published>): void {
    this.published = { ...this.published, ...change };
    this.#onChange(this.published);
  }

  /** Returns whether the player's clock is low, and watches for the moment when it becomes so. */
  #isLow(play: Play): boolean {
    const { match } = play;
    const runs = isRunning(play) && match?.turn === match?.you;
    const deadline = runs ? (match?.deadlineAtMs ?? null) : null;
    const left = match === null ? null : timeLeft(play, match.you, this.#browser.now());
    const low = deadline !== null && left !== null && left <= LOW_MS;
    if (deadline !== this.#watched) {
      this.#watched = deadline;
      this.#cancelLow();
      this.#cancelLow = () => {};
      if (deadline !== null && left !== null && !low) {
        this.#cancelLow = this.#browser.after(left - LOW_MS, () => this.#onLow());
      }
    }
    return low;
  }

  #onLate(): void {
    const { again, locale } = this.published;
    if (again !== 'asked') return;
    this.#publish({ again: 'late', announced: this.#announcer.add([locale.text('end.late')]) });
  }

  #onLow(): void {
    const text = this.published.locale.text('said.low', { n: LOW_MS / 1000 });
    this.#publish({ low: true, announced: this.#announcer.add([text]) });
  }
}
