/** The sentences that tell the player the state of the match, on screen and to screen readers. */

import { adapterOf } from './boards';
import { isRunning, mayMove } from './play';
import type { Ending, Match, Play } from './play';
import type { Side } from './protocol';
import type { Key } from './words/en';
import { isolated } from './words/locale';
import type { Locale } from './words/locale';

export function opponentName(match: Match | null, locale: Locale): string {
  return isolated(match?.opponent.displayName ?? locale.text('opponent'));
}

export function sideNameOf(match: Match, side: Side, locale: Locale): string {
  const adapter = adapterOf(match.gameId);
  return adapter === null ? '' : locale.text(`side.${adapter.gameId}.${side}`);
}

/** Returns what each move adds to a clock, in words, or an empty text where it adds nothing. */
export function incrementText({ incrementMs }: Match, locale: Locale): string {
  return incrementMs ? locale.text('increment', { n: incrementMs / 1000 }) : '';
}

/** Returns whether the player's clock is running. */
export function isClockRunning(match: Match): boolean {
  return match.turn === match.you && typeof match.deadlineAtMs === 'number';
}

/** Returns how a match was won, lost or drawn, in one sentence, or an empty text. */
export function howText(ending: Ending, match: Match | null, locale: Locale): string {
  const { outcome, result, endReason } = ending;
  if (outcome === 'no_contest') {
    const key = `void.${endReason}`;
    return locale.text(isVoid(key) ? key : 'void.other');
  }
  const name = opponentName(match, locale);
  const lost = result === 'lost';
  if (endReason === 'resigned')
    return locale.text(lost ? 'how.resignedYou' : 'how.resigned', { name });
  if (endReason === 'forfeit_timeout')
    return locale.text(lost ? 'how.timeYou' : 'how.time', { name });
  if (endReason === 'decided_by_test_key') return locale.text('how.test');
  if (match === null) return '';
  const how = adapterOf(match.gameId)?.how(match.state, match.you, result === 'drawn');
  return how ? locale.text(how.key, how.parameters) : '';
}

const VOID = ['no_opponent', 'cancelled', 'both_absent', 'account_inactive', 'platform_void'];
const isVoid = (key: string): key is Extract<Key, `void.${string}`> =>
  [...VOID, 'emergency_stop'].some((reason) => key === `void.${reason}`);

/** Returns who won, with the amount if it is known and to be shown. */
export function resultText(play: Play, ending: Ending, locale: Locale): string {
  const { outcome, result, dueUsdCents } = ending;
  if (outcome === 'no_contest') return locale.text('end.void');
  if (result === 'won') {
    const money = showsMoney(play) && dueUsdCents !== null ? locale.money(dueUsdCents) : null;
    return money === null ? locale.text('end.won') : locale.text('end.wonMoney', { money });
  }
  if (result === 'lost') return locale.text('end.lost');
  return locale.text(result === 'drawn' ? 'end.drawn' : 'end.over');
}

/** Returns what became of the player's stake, or an empty text where there is nothing to add. */
export function stakeText(play: Play, ending: Ending, locale: Locale): string {
  const { outcome, result, dueUsdCents } = ending;
  const stake = play.match?.stakeUsdCents;
  if (result === 'lost') {
    if (!showsMoney(play) || typeof stake !== 'number') return '';
    return locale.text('end.gone', { money: locale.money(stake) });
  }
  if (outcome !== 'no_contest' && result !== 'drawn') return '';
  const back = dueUsdCents ?? stake;
  if (!showsMoney(play) || typeof back !== 'number') return locale.text('end.backPlain');
  return locale.text('end.back', { money: locale.money(back) });
}

const showsMoney = (play: Play): boolean => play.session?.theme?.showAmounts !== false;

/** The texts for a session that cannot go on. */
const STOPPED: Record<string, 'expired' | 'invalid' | 'revoked' | 'inactive' | 'replaced'> = {
  session_expired: 'expired',
  session_invalid: 'invalid',
  session_mismatch: 'invalid',
  session_ended: 'revoked',
  partner_inactive: 'inactive',
  session_replaced: 'replaced',
};

/** Returns which texts tell why a session cannot go on. */
export function stoppedTexts(reason: string): 'stopped' | (typeof STOPPED)[string] {
  return STOPPED[reason] ?? 'stopped';
}

/** Returns what screen readers say after a change, each a sentence or two, in order. */
export function announcements(before: Play, after: Play, locale: Locale): string[] {
  const { socket, match, ending } = after;
  const changed = socket.kind !== before.socket.kind;
  if (changed && socket.kind === 'stopped') {
    const texts = stoppedTexts(socket.reason);
    return [`${locale.text(`${texts}.title`)}. ${locale.text(`${texts}.text`)}`];
  }
  const said: string[] = [];
  if (changed && socket.kind === 'retrying') said.push(lostText(after, locale));
  if (ending !== null && ending.matchId !== before.ending?.matchId) {
    const result = `${resultText(after, ending, locale)}.`;
    const parts = [result, howText(ending, match, locale), stakeText(after, ending, locale)];
    return [...said, parts.filter(Boolean).join(' ')];
  }
  if (socket.kind === 'open' && before.socket.kind === 'retrying')
    said.push(locale.text('said.back'));
  if (match !== null && ending === null) {
    if (match.matchId === before.match?.matchId)
      said.push(...changesOf(before.match, match, locale));
    else said.push(startText(match, locale), turnText(match, locale));
  } else if (after.seat !== null && kindOf(after.seat) !== kindOf(before.seat)) {
    said.push(locale.text(after.seat === 'none' ? 'noseat.text' : 'waiting.title'));
  }
  return [...said, ...othersText(before, after, locale)];
}

const kindOf = (seat: Play['seat']): string | null => (seat === null ? null : typeof seat);

function lostText(play: Play, locale: Locale): string {
  const { match } = play;
  if (match === null || !isRunning(play)) return locale.text('said.lost');
  return `${locale.text('said.lost')} ${locale.text(safeKey(match))}`;
}

/** Returns the key of the text that tells what a lost connection costs. */
export function safeKey(match: Match): Key {
  return isClockRunning(match) ? 'offline.running' : 'offline.stands';
}

function startText(match: Match, locale: Locale): string {
  const started = locale.text('said.started', { side: sideNameOf(match, match.you, locale) });
  return `${started} ${incrementText(match, locale)}`.trim();
}

/** Returns the sentences about what changed within a match: a move, and the opponent's presence. */
function changesOf(before: Match, after: Match, locale: Locale): string[] {
  const said: string[] = [];
  if (after.ply !== before.ply) {
    const move = after.lastMove === null ? [] : [moveText(after, after.lastMove, locale)];
    said.push([...move, turnText(after, locale)].join(' '));
  }
  const online = after.opponent.connected ?? false;
  if (online !== (before.opponent.connected ?? false)) {
    const name = opponentName(after, locale);
    said.push(locale.text(online ? 'said.online' : 'said.offline', { name }));
  }
  return said;
}

/** Returns the sentences about other matches in which the player is to move. */
function othersText(before: Play, after: Play, locale: Locale): string[] {
  return after.others
    .filter((match) => match.turn === match.you)
    .filter(
      ({ matchId, ply }) => !before.others.some((o) => o.matchId === matchId && o.ply === ply),
    )
    .filter(({ matchId }) => before.match?.matchId !== matchId)
    .map((match) => {
      const name = opponentName(match, locale);
      return locale.text('said.other', { text: locale.text('matches.you', { name }) });
    });
}

/** Returns a move as it is said, such as `column 4`. */
export function sayMove(match: Match, move: string, locale: Locale): string {
  const said = adapterOf(match.gameId)?.say(move) ?? move;
  if (typeof said === 'string') return said;
  const parameters = { ...said.parameters };
  const { piece } = parameters;
  if (typeof piece === 'string') parameters.piece = locale.text(piece as Key);
  return locale.text(said.key, parameters);
}

function moveText(match: Match, last: NonNullable<Match['lastMove']>, locale: Locale): string {
  const move = sayMove(match, last.move, locale);
  if (last.by === match.you) return locale.text('said.you', { move });
  return locale.text('said.they', { name: opponentName(match, locale), move });
}

function turnText(match: Match, locale: Locale): string {
  if (match.turn === match.you) return locale.text('said.yours');
  return locale.text('said.theirs', { name: opponentName(match, locale) });
}

/** Returns why a press did nothing: the player is not to move, or the move is not legal. */
export function refusalKey(play: Play): Key {
  return mayMove(play) ? 'illegal.hint' : 'notYours.hint';
}

/** Returns the title of the position after some of the moves. */
export function pastTitle(match: Match, at: number, locale: Locale): string {
  return locale.text('past.title', { n: at, count: match.ply });
}

/** Returns what screen readers say of the position after some of the moves. */
export function lookText(match: Match, at: number, locale: Locale): string {
  if (at === match.ply) return turnText(match, locale);
  const move = match.moves[at - 1];
  const title = pastTitle(match, at, locale);
  return move === undefined ? title : `${title}: ${sayMove(match, move, locale)}`;
}
