/** Every sentence that the player reads or hears. */

import { adapterOf } from './boards';
import type { Ending, Match, Play } from './play';

const STOPPED: Record<string, string> = {
  session_expired: 'Your session has run out. Start the game again from the page you came from.',
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
  both_absent: 'Nobody came to play.',
  account_inactive: 'Games were switched off.',
  platform_void: 'The match was called off.',
  emergency_stop: 'All matches were stopped.',
};

export function opponentName(match: Match): string {
  return match.opponent.displayName ?? 'Opponent';
}

export function stoppedText(reason: string): string {
  return STOPPED[reason] ?? 'The game cannot go on. Start it again from the page you came from.';
}

export function endingText(ending: Ending): string {
  if (ending.outcome === 'no_contest') {
    return `No contest. ${NO_CONTEST[ending.endReason ?? ''] ?? 'The match did not count.'} Your stake goes back to you.`;
  }
  const how = END_REASONS[ending.endReason ?? ''];
  if (ending.result === 'won') return how === undefined ? 'You won.' : `You won ${how}.`;
  if (ending.result === 'lost') return how === undefined ? 'You lost.' : `You lost ${how}.`;
  if (ending.result === 'drawn') return 'A draw. Your stake goes back to you.';
  return 'The match is over.';
}

/** Returns the one line that says how things stand. */
export function headline(play: Play): string {
  const { link, match, ending } = play;
  if (link.kind === 'stopped') return ending === null ? stoppedText(link.reason) : endingText(ending);
  if (ending !== null) return endingText(ending);
  if (match !== null) {
    if (link.kind !== 'open') return 'Connection lost. Reconnecting…';
    if (match.turn !== match.you) return `${opponentName(match)} to move`;
    return play.sent === null ? 'Your turn' : 'Sending your move…';
  }
  if (link.kind === 'idle') return 'Waiting for the page around this game…';
  if (link.kind === 'retrying') return 'The game cannot be reached. Trying again…';
  return play.waiting ? 'Waiting for an opponent…' : 'Connecting…';
}

/** Returns what a screen reader should say after a change, or null where nothing happened that is worth it. */
export function announcement(before: Play, after: Play): string | null {
  const said: string[] = [];
  const was = before.match;
  const is = after.match;
  if (after.link.kind !== before.link.kind) {
    if (after.link.kind === 'stopped') return stoppedText(after.link.reason);
    if (after.link.kind === 'retrying') return 'Connection lost. Reconnecting.';
    if (after.link.kind === 'open' && before.link.kind === 'retrying') said.push('Connected again.');
  }
  if (after.ending !== null && before.ending?.matchId !== after.ending.matchId) return endingText(after.ending);
  if (is !== null && was?.matchId !== is.matchId && after.ending === null) {
    const side = adapterOf(is.gameId)?.sides[is.you];
    said.push(`The match has begun.${side === undefined ? '' : ` You play ${side}.`}`, turnText(is));
  } else if (is !== null && was !== null && after.ending === null) {
    if (is.last !== null && is.ply !== was.ply) {
      const who = is.last.by === is.you ? 'You' : opponentName(is);
      said.push(`${who}: ${adapterOf(is.gameId)?.say(is.last.move) ?? is.last.move}.`, turnText(is));
    } else if (is.ply !== was.ply) {
      said.push(turnText(is));
    }
    if ((is.opponent.connected ?? false) !== (was.opponent.connected ?? false)) {
      said.push(is.opponent.connected ? `${opponentName(is)} is here.` : `${opponentName(is)} has lost the connection.`);
    }
  } else if (after.waiting && !before.waiting) {
    said.push('Waiting for an opponent.');
  }
  return said.length > 0 ? said.join(' ') : null;
}

function turnText(match: Match): string {
  return match.turn === match.you ? 'Your turn.' : `${opponentName(match)} to move.`;
}

/** Returns a time as minutes and seconds, rounded up: 0:00 means that it is over. */
export function clockText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
