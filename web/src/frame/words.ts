/** The sentences that tell the player the state of the match, on screen and by screen reader. */

import { adapterOf } from './boards';
import type { Ending, Match, Play } from './play';

const STOPPED: Record<string, string> = {
  session_expired: 'Your session has expired. Start the game again from the page you came from.',
  session_invalid: 'This session is not valid. Start the game again from the page you came from.',
  session_ended: 'Your session was ended. Please contact the site you came from.',
  session_replaced: 'You are playing in another window.',
  partner_inactive: 'Games are switched off at the moment.',
};

const END_REASONS: Record<string, string> = {
  resigned: 'by resignation',
  forfeit_timeout: 'on time',
};

const NO_CONTEST: Record<string, string> = {
  no_opponent: 'No opponent was found.',
  both_absent: 'Neither player came.',
  account_inactive: 'Games were switched off.',
  platform_void: 'The match was called off.',
  emergency_stop: 'All matches were stopped.',
};

export function opponentName(match: Match): string {
  return match.opponent.displayName ?? 'Opponent';
}

function stoppedText(reason: string): string {
  return STOPPED[reason] ?? 'The game cannot go on. Start it again from the page you came from.';
}

function endingText(ending: Ending): string {
  if (ending.outcome === 'no_contest') {
    const why = NO_CONTEST[ending.endReason ?? ''] ?? 'The match did not count.';
    return `No contest. ${why} Your stake is returned.`;
  }
  const how = END_REASONS[ending.endReason ?? ''];
  if (ending.result === 'won') return how === undefined ? 'You won.' : `You won ${how}.`;
  if (ending.result === 'lost') return how === undefined ? 'You lost.' : `You lost ${how}.`;
  if (ending.result === 'drawn') return 'A draw. Your stake is returned.';
  return 'The match is over.';
}

/** Returns the line above the board, which tells the state of the match or the connection. */
export function headline(play: Play): string {
  const { socket, match, ending } = play;
  if (ending !== null) return endingText(ending);
  if (socket.kind === 'stopped') return stoppedText(socket.reason);
  if (match !== null) {
    if (socket.kind !== 'open') return 'Connection lost. Reconnecting…';
    if (match.turn !== match.you) return `${opponentName(match)} to move`;
    return play.pendingMove === null ? 'Your turn' : 'Sending your move…';
  }
  if (socket.kind === 'idle') return 'Waiting for the page to start the game…';
  if (socket.kind === 'retrying') return 'The game cannot be reached. Trying again…';
  return play.waiting ? 'Waiting for an opponent…' : 'Connecting…';
}

/** Returns what screen readers say after a change, or null if the player need not hear of it. */
export function announcement(before: Play, after: Play): string | null {
  const { socket, match, ending } = after;
  const changed = socket.kind !== before.socket.kind;
  if (changed && socket.kind === 'stopped') return stoppedText(socket.reason);
  if (changed && socket.kind === 'retrying') return 'Connection lost. Reconnecting.';
  if (ending !== null && ending.matchId !== before.ending?.matchId) return endingText(ending);
  const said: string[] = [];
  if (socket.kind === 'open' && before.socket.kind === 'retrying') said.push('Connected again.');
  if (match !== null && ending === null) {
    if (match.matchId === before.match?.matchId) said.push(...changesOf(before.match, match));
    else said.push(startText(match), turnText(match));
  } else if (after.waiting && !before.waiting) {
    said.push('Waiting for an opponent.');
  }
  return said.length > 0 ? said.join(' ') : null;
}

function startText(match: Match): string {
  const side = adapterOf(match.gameId)?.sides[match.you];
  return side === undefined
    ? 'The match has started.'
    : `The match has started. You play ${side}.`;
}

/** Returns the sentences about what changed within a match: a move, and the opponent's presence. */
function changesOf(before: Match, after: Match): string[] {
  const said: string[] = [];
  if (after.ply !== before.ply) {
    if (after.lastMove !== null) said.push(moveText(after, after.lastMove));
    said.push(turnText(after));
  }
  const online = after.opponent.connected ?? false;
  if (online !== (before.opponent.connected ?? false)) {
    said.push(`${opponentName(after)} is ${online ? 'online' : 'offline'}.`);
  }
  return said;
}

function moveText(match: Match, { by, move }: NonNullable<Match['lastMove']>): string {
  const who = by === match.you ? 'You' : opponentName(match);
  return `${who}: ${adapterOf(match.gameId)?.say(move) ?? move}.`;
}

function turnText(match: Match): string {
  return match.turn === match.you ? 'Your turn.' : `${opponentName(match)} to move.`;
}

/** Returns a time as minutes and seconds, rounded up, so that 0:00 means that no time is left. */
export function clockText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
