/** Saves in a file the matches that the filters find. */

import type { Api } from '../api';
import { Problem, useAct } from '../page';
import { Button } from '../parts/button';
import { amount, save } from '../parts/csv';
import type { Value } from '../parts/csv';
import { countOf, many } from '../parts/format';
import { ENTRIES_MAX, PAGE } from '../parts/list';
import { winnerOf } from '../match/match';
import type { Match } from '../match/match';

/** How many pages are read for a file, because a page may have few matches or none. */
const PAGES_MAX = 200;

const OF_A_SEAT = ['seatId', 'player', 'partnerRef', 'result', 'stake', 'payout', 'refund', 'rake'];

const HEADS = [
  ...['matchId', 'status', 'endReason', 'startedAt', 'endedAt', 'game', 'tier', 'prize', 'winner'],
  ...[1, 2].flatMap((number) => OF_A_SEAT.map((head) => `${head} ${number}`)),
];

const time = (at: number | undefined) =>
  at === undefined ? '' : new Date(at * 1000).toISOString();

const money = (cents: number | undefined) => (cents === undefined ? '' : amount(cents));

function rowOf(match: Match): Value[] {
  return [
    match.matchId,
    match.status,
    match.endReason,
    time(match.startedAt),
    time(match.endedAt),
    match.gameId,
    match.tierId,
    amount(match.prizeUsdCents),
    winnerOf(match)?.playerId,
    ...match.seats.flatMap((seat) => [
      seat.seatId,
      seat.playerId,
      seat.partnerRef,
      seat.result,
      money(seat.stakeUsdCents),
      money(seat.payoutUsdCents),
      money(seat.refundUsdCents),
      money(seat.rakeUsdCents),
    ]),
  ];
}

/** Returns the newest matches of a list, and whether there are more than a file has. */
async function read(api: Api, path: string): Promise<[Match[], boolean]> {
  const matches: Match[] = [];
  let after = '';
  for (let turn = 0; turn < PAGES_MAX && matches.length < ENTRIES_MAX; turn += 1) {
    const page = await api.read<{ matches: Match[]; nextCursor: string | null }>(
      `${path}&limit=${PAGE}${after}`,
    );
    matches.push(...page.matches);
    if (page.nextCursor === null) return [matches, false];
    after = `&cursor=${encodeURIComponent(page.nextCursor)}`;
  }
  return [matches, true];
}

interface KeepProps {
  api: Api;
  /** The list, with its filters. */
  path: string;
  name: string;
  tell(text: string): void;
}

export function KeepMatches({ api, path, name, tell }: KeepProps) {
  const { act, busy, error } = useAct(() => Promise.resolve());
  const keep = () =>
    act(async () => {
      const [matches, isCut] = await read(api, path);
      save(`${name}.csv`, [HEADS, ...matches.map(rowOf)]);
      const has = many(matches.length, 'match', 'matches');
      tell(
        isCut
          ? `The file has the newest ${has}. There may be more: choose fewer days.`
          : `The file has ${has}.`,
      );
    });
  return (
    <span class="line">
      <Button icon="save" busy={busy} onPress={() => void keep()}>
        CSV
      </Button>{' '}
      <span class="small quiet">at most {countOf(ENTRIES_MAX)}</span>
      <Problem error={error} />
    </span>
  );
}
