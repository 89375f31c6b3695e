/** The results feed and the nudges, newest first. */

import type { Game, Nudge, Row } from './backend';
import { money, moneyOrOpen, timeOf } from './words';

const HEADINGS = [
  'Player', 'Against', 'Game', 'Outcome', 'Result', 'How', 'Stake', 'Payout', 'Refund', 'Rake',
  'Revision',
];

interface FeedProps {
  rows: Row[];
  games: Game[];
  /** How many rows at the top have just arrived. */
  fresh: number;
}

export function Feed({ rows, games, fresh }: FeedProps) {
  const nameOf = (gameId: string) => games.find((game) => game.gameId === gameId)?.name ?? gameId;
  return (
    <section aria-labelledby="feed-heading">
      <h2 id="feed-heading">The results feed</h2>
      <p class="quiet">
        One row for each player of a match, as <code>GET /partner/results</code> returns it. The
        newest change is at the top. Money is open until it is recorded.
      </p>
      <div class="scroll" role="region" aria-label="Rows of the feed" tabIndex={0}>
        <table id="feed">
          <thead>
            <tr>
              {HEADINGS.map((heading) => (
                <th key={heading} scope="col">
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr
                key={`${row.matchId} ${row.playerId}`}
                class={at < fresh ? 'new' : ''}
                data-match={row.matchId}
                data-player={row.playerId}
              >
                <th scope="row">{row.playerId}</th>
                <td>{row.opponentPlayerId ?? 'nobody'}</td>
                <td>{nameOf(row.gameId)}</td>
                <td>{row.outcome.replace('_', ' ')}</td>
                <td>{row.result ?? 'none'}</td>
                <td>{row.endReason?.replaceAll('_', ' ') ?? 'not yet'}</td>
                <td>{money(row.stakeUsdCents)}</td>
                <td>{moneyOrOpen(row.payoutUsdCents)}</td>
                <td>{moneyOrOpen(row.refundUsdCents)}</td>
                <td>{moneyOrOpen(row.rakeUsdCents)}</td>
                <td>{row.revision}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

export function Nudges({ nudges }: { nudges: Nudge[] }) {
  return (
    <section aria-labelledby="nudges-heading">
      <h2 id="nudges-heading">Nudges</h2>
      <p class="quiet">
        The service calls the backend's webhook when the feed has news. The backend verifies each
        signature. A nudge does not say what is new.
      </p>
      {nudges.length === 0 && <p>None yet.</p>}
      <ol id="nudges">
        {nudges.map((nudge, at) => (
          <li key={`${nudge.arrivedAtMs} ${at}`}>
            <time>{timeOf(nudge.arrivedAtMs)}</time> UTC,{' '}
            {nudge.problem === null ? (
              <span class="good">verified</span>
            ) : (
              <span class="bad">refused: {nudge.problem}</span>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
