/** Matches in a table, as the pages that list some show them. */

import type { Environment } from '../api';
import { Copy } from '../parts/copy';
import { dollars } from '../parts/format';
import { Tag } from '../parts/note';
import type { Column } from '../parts/table';
import { Ago, ShortTime } from '../parts/time';
import { GameAndTier } from '../parts/game-and-tier';
import { Whole } from '../parts/whole';
import { linkTo } from '../routes';
import { shortId, whyEnded } from './match';
import type { Match } from './match';

/** Characters of the references that a list shows. */
const REFERENCE_MAX = 32;

const cutTo = (text: string, max: number) =>
  text.length > max ? `${text.slice(0, max - 1)}…` : text;

/**
 * The columns of a list of matches; with a player, as that player sees them. `ago` is for a list
 * with little room: the list says how long ago a match was, instead of its date and time, and has
 * no column for the partner's references.
 */
export function matchColumns(
  environment: Environment,
  player: string | null,
  ago = false,
): Column<Match>[] {
  const mine = (match: Match) =>
    match.seats.find((seat) => seat.playerId === player) ?? match.seats[0]!;
  const others = (match: Match) =>
    match.seats.filter((seat) => player === null || seat !== mine(match));
  const references: Column<Match> = {
    head: 'Your reference',
    wide: true,
    cell: (match) => {
      const seats = player === null ? match.seats : [mine(match)];
      const text = seats.flatMap(({ partnerRef = [] }) => partnerRef).join(', ');
      return text === '' ? null : <span title={text}>{cutTo(text, REFERENCE_MAX)}</span>;
    },
  };
  return [
    {
      head: 'Match',
      cell: (match) => (
        <span class="id line">
          <a class="mono" href={linkTo(environment, 'matches', match.matchId)}>
            {shortId(match.matchId)}
          </a>
          <Copy text={match.matchId} label="" what={`Copy ${match.matchId}`} small />
        </span>
      ),
    },
    {
      head: ago ? 'When' : 'When, UTC',
      cell: (match) => <When at={match.endedAt ?? match.startedAt} ago={ago} />,
    },
    { head: 'Game and tier', cell: (match) => <GameAndTier {...match} /> },
    {
      head: player === null ? 'Players' : 'Against',
      cell: (match) => {
        const players = playersOf(others(match));
        return players === '' ? <span class="quiet">nobody</span> : <Whole text={players} />;
      },
    },
    ...(ago ? [] : [references]),
    {
      head: 'End',
      cell: (match) => <End match={match} result={mine(match).result} player={player} />,
    },
    {
      head: 'Money',
      right: true,
      cell: (match) => moneyOf(match, player === null ? match.seats : [mine(match)]),
    },
  ];
}

/** Returns players as text: `ana beat ben` if there are two and one has won, else `ana and ben`. */
export function playersOf(seats: Match['seats']): string {
  const winner = seats.find(({ result }) => result === 'won');
  const both = winner !== undefined && seats.length === 2;
  const ordered = both ? [winner, ...seats.filter((seat) => seat !== winner)] : seats;
  return ordered.map(({ playerId }) => playerId).join(both ? ' beat ' : ' and ');
}

function When({ at, ago }: { at: number | undefined; ago: boolean }) {
  if (at === undefined) return 'running';
  return <span class="line">{ago ? <Ago at={at} /> : <ShortTime at={at} />}</span>;
}

interface EndProps {
  match: Match;
  result: string | undefined;
  player: string | null;
}

function End({ match, result, player }: EndProps) {
  if (match.status === 'started') return <Tag icon="play">runs</Tag>;
  if (match.status === 'no_contest') {
    const decided = match.endReason === 'decided_by_test_key';
    return <Tag tone="warn">{decided ? 'no contest' : whyEnded(match)}</Tag>;
  }
  if (result === 'drawn') return <Tag>drawn</Tag>;
  if (player === null) return <Tag>decided</Tag>;
  return result === 'won' ? <Tag tone="good">won</Tag> : <Tag>lost</Tag>;
}

function moneyOf(match: Match, seats: readonly Match['seats'][number][]): string {
  if (match.status === 'started') return 'held';
  if (seats.some((seat) => seat.rakeUsdCents === undefined)) return 'not yet';
  const sum = (of: (seat: Match['seats'][number]) => number | undefined) =>
    seats.reduce((total, seat) => total + (of(seat) ?? 0), 0);
  const back = sum((seat) => seat.refundUsdCents);
  return back > 0 ? `${dollars(back)} back` : dollars(sum((seat) => seat.payoutUsdCents));
}
