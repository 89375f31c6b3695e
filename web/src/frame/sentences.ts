/** The sentences that tell the player the state of the match, on screen and to screen readers. */

import { adapterOf } from './boards';
import { isRunning, mayMove } from './play';
import type { Ending, Match, Play } from './play';
import type { Side } from './protocol';
import type { Key } from './words/en';
import { isolated } from './words/speaker';
import type { Speaker } from './words/speaker';

export function opponentName(match: Match | null, speaker: Speaker): string {
  return isolated(match?.opponent.displayName ?? speaker.say('opponent'));
}

export function sideNameOf(match: Match, side: Side, speaker: Speaker): string {
  const adapter = adapterOf(match.gameId);
  return adapter === null ? '' : speaker.say(`side.${adapter.gameId}.${side}`);
}

/** Returns what each move adds to a clock, in words, or an empty text where it adds nothing. */
export function incrementText({ incrementMs }: Match, speaker: Speaker): string {
  return incrementMs ? speaker.say('increment', { n: incrementMs / 1000 }) : '';
}

/** Returns whether the player's clock is running. */
export function isClockRunning(match: Match): boolean {
  return match.turn === match.you && typeof match.deadlineAtMs === 'number';
}

/** Returns how a match was won, lost or drawn, in one sentence, or an empty text. */
export function howText(ending: Ending, match: Match | null, speaker: Speaker): string {
  const { outcome, result, endReason } = ending;
  if (outcome === 'no_contest') {
    const key = `void.${endReason}`;
    return speaker.say(isVoid(key) ? key : 'void.other');
  }
  const name = opponentName(match, speaker);
  const lost = result === 'lost';
  if (endReason === 'resigned')
    return speaker.say(lost ? 'how.resignedYou' : 'how.resigned', { name });
  if (endReason === 'forfeit_timeout')
    return speaker.say(lost ? 'how.timeYou' : 'how.time', { name });
  if (endReason === 'decided_by_test_key') return speaker.say('how.test');
  if (match === null) return '';
  const spoken = adapterOf(match.gameId)?.how(match.state, match.you, result === 'drawn');
  return spoken ? speaker.say(spoken.key, spoken.parameters) : '';
}

const VOID = ['no_opponent', 'cancelled', 'both_absent', 'account_inactive', 'platform_void'];
const isVoid = (key: string): key is Extract<Key, `void.${string}`> =>
  [...VOID, 'emergency_stop'].some((reason) => key === `void.${reason}`);

/** Returns who won, with the amount where it is told. */
export function resultText(play: Play, ending: Ending, speaker: Speaker): string {
  const { outcome, result, dueUsdCents } = ending;
  if (outcome === 'no_contest') return speaker.say('end.void');
  if (result === 'won') {
    const money = showsMoney(play) && dueUsdCents !== null ? speaker.money(dueUsdCents) : null;
    return money === null ? speaker.say('end.won') : speaker.say('end.wonMoney', { money });
  }
  if (result === 'lost') return speaker.say('end.lost');
  return speaker.say(result === 'drawn' ? 'end.drawn' : 'end.over');
}

/** Returns what became of the player's stake, or an empty text where there is nothing to add. */
export function stakeText(play: Play, ending: Ending, speaker: Speaker): string {
  const { outcome, result, dueUsdCents } = ending;
  const stake = play.match?.stakeUsdCents;
  if (result === 'lost') {
    if (!showsMoney(play) || typeof stake !== 'number') return '';
    return speaker.say('end.gone', { money: speaker.money(stake) });
  }
  if (outcome !== 'no_contest' && result !== 'drawn') return '';
  const back = dueUsdCents ?? stake;
  if (!showsMoney(play) || typeof back !== 'number') return speaker.say('end.backPlain');
  return speaker.say('end.back', { money: speaker.money(back) });
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
export function announcements(before: Play, after: Play, speaker: Speaker): string[] {
  const { socket, match, ending } = after;
  const changed = socket.kind !== before.socket.kind;
  if (changed && socket.kind === 'stopped') {
    const texts = stoppedTexts(socket.reason);
    return [`${speaker.say(`${texts}.title`)}. ${speaker.say(`${texts}.text`)}`];
  }
  const said: string[] = [];
  if (changed && socket.kind === 'retrying') said.push(lostText(after, speaker));
  if (ending !== null && ending.matchId !== before.ending?.matchId) {
    const result = `${resultText(after, ending, speaker)}.`;
    const parts = [result, howText(ending, match, speaker), stakeText(after, ending, speaker)];
    return [...said, parts.filter(Boolean).join(' ')];
  }
  if (socket.kind === 'open' && before.socket.kind === 'retrying')
    said.push(speaker.say('said.back'));
  if (match !== null && ending === null) {
    if (match.matchId === before.match?.matchId)
      said.push(...changesOf(before.match, match, speaker));
    else said.push(startText(match, speaker), turnText(match, speaker));
  } else if (after.seat !== null && kindOf(after.seat) !== kindOf(before.seat)) {
    said.push(speaker.say(after.seat === 'none' ? 'noseat.text' : 'waiting.title'));
  }
  return [...said, ...othersText(before, after, speaker)];
}

const kindOf = (seat: Play['seat']): string | null => (seat === null ? null : typeof seat);

function lostText(play: Play, speaker: Speaker): string {
  const { match } = play;
  if (match === null || !isRunning(play)) return speaker.say('said.lost');
  return `${speaker.say('said.lost')} ${speaker.say(safeKey(match))}`;
}

/** Returns the key of the text that tells what a lost connection costs. */
export function safeKey(match: Match): Key {
  return isClockRunning(match) ? 'offline.running' : 'offline.stands';
}

function startText(match: Match, speaker: Speaker): string {
  const started = speaker.say('said.started', { side: sideNameOf(match, match.you, speaker) });
  return `${started} ${incrementText(match, speaker)}`.trim();
}

/** Returns the sentences about what changed within a match: a move, and the opponent's presence. */
function changesOf(before: Match, after: Match, speaker: Speaker): string[] {
  const said: string[] = [];
  if (after.ply !== before.ply) {
    const move = after.lastMove === null ? [] : [moveText(after, after.lastMove, speaker)];
    said.push([...move, turnText(after, speaker)].join(' '));
  }
  const online = after.opponent.connected ?? false;
  if (online !== (before.opponent.connected ?? false)) {
    const name = opponentName(after, speaker);
    said.push(speaker.say(online ? 'said.online' : 'said.offline', { name }));
  }
  return said;
}

/** Returns the sentences about other matches in which the player is to move. */
function othersText(before: Play, after: Play, speaker: Speaker): string[] {
  return after.others
    .filter((match) => match.turn === match.you)
    .filter(
      ({ matchId, ply }) => !before.others.some((o) => o.matchId === matchId && o.ply === ply),
    )
    .filter(({ matchId }) => before.match?.matchId !== matchId)
    .map((match) => {
      const name = opponentName(match, speaker);
      return speaker.say('said.other', { text: speaker.say('matches.you', { name }) });
    });
}

/** Returns a move as it is said, such as `column 4`. */
export function sayMove(match: Match, move: string, speaker: Speaker): string {
  const spoken = adapterOf(match.gameId)?.say(move) ?? move;
  if (typeof spoken === 'string') return spoken;
  const parameters = { ...spoken.parameters };
  const { piece } = parameters;
  if (typeof piece === 'string') parameters.piece = speaker.say(piece as Key);
  return speaker.say(spoken.key, parameters);
}

function moveText(match: Match, last: NonNullable<Match['lastMove']>, speaker: Speaker): string {
  const move = sayMove(match, last.move, speaker);
  if (last.by === match.you) return speaker.say('said.you', { move });
  return speaker.say('said.they', { name: opponentName(match, speaker), move });
}

function turnText(match: Match, speaker: Speaker): string {
  if (match.turn === match.you) return speaker.say('said.yours');
  return speaker.say('said.theirs', { name: opponentName(match, speaker) });
}

/** Returns why a press did nothing: the player is not to move, or the move is not legal. */
export function refusalKey(play: Play): Key {
  return mayMove(play) ? 'illegal.hint' : 'notYours.hint';
}

/** Returns the title of the position after some of the moves. */
export function pastTitle(match: Match, at: number, speaker: Speaker): string {
  return speaker.say('past.title', { n: at, count: match.ply });
}

/** Returns what screen readers say of the position after some of the moves. */
export function lookText(match: Match, at: number, speaker: Speaker): string {
  if (at === match.ply) return turnText(match, speaker);
  const move = match.moves[at - 1];
  const title = pastTitle(match, at, speaker);
  return move === undefined ? title : `${title}: ${sayMove(match, move, speaker)}`;
}
