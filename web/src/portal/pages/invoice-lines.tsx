/** The lines of an invoice. Each opens in place and shows the matches that it bills. */

import type { Api, Environment } from '../api';
import { Card } from '../parts/card';
import { shortDay } from '../parts/days';
import { clockOf, countOf, dollars, many } from '../parts/format';
import { useList } from '../parts/list';
import { GameAndTier } from '../parts/game-and-tier';
import { Problem } from '../page';
import { linkTo } from '../routes';
import type { Invoice, Line, LineMatch } from '../words/invoices';

/** How many matches of a line are listed. The others are shown as a sum. */
const MATCHES_SHOWN = 60;

interface LinesProps {
  api: Api;
  environment: Environment;
  invoice: Invoice;
  lines: readonly Line[];
  open: string | null;
  onOpen(lineId: string | null): void;
}

export function Lines({ api, environment, invoice, lines, open, onOpen }: LinesProps) {
  const matches = lines.reduce((sum, line) => sum + line.matches, 0);
  return (
    <Card flush>
      <div class="scroll" tabIndex={0} role="region" aria-label="Lines">
        <table class="t lines">
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col">What</th>
              <th scope="col" class="r">
                Matches
              </th>
              <th scope="col" class="r">
                Rake
              </th>
              <th scope="col" class="noprint">
                <span class="unseen">Open</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <LineRow
                key={line.lineId}
                {...{ api, environment, invoice, line, onOpen }}
                open={line.lineId === open}
              />
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row" colSpan={2}>
                Total, US dollars
              </th>
              <td class="r">{countOf(matches)}</td>
              <td class="r">{dollars(invoice.totalUsdCents ?? 0)}</td>
              <td class="noprint" />
            </tr>
          </tfoot>
        </table>
      </div>
    </Card>
  );
}

interface LineProps extends Omit<LinesProps, 'lines' | 'open'> {
  line: Line;
  open: boolean;
}

function LineRow({ api, environment, invoice, line, open, onOpen }: LineProps) {
  const outside = line.day < invoice.periodFrom || line.day > invoice.periodTo;
  return (
    <>
      <tr data-row={line.lineId}>
        <th scope="row">
          <span class="nobr">{shortDay(line.day)}</span>
        </th>
        <td>
          <GameAndTier {...line} />
          {outside && <small>Of an earlier month, after its invoice was final.</small>}
        </td>
        <td class="r">{countOf(line.matches)}</td>
        <td class="r">{dollars(line.amountUsdCents)}</td>
        <td class="acts noprint">
          <button
            type="button"
            class="btn sm"
            aria-expanded={open}
            onClick={() => onOpen(open ? null : line.lineId)}
          >
            {open ? 'Close' : 'Matches'} <span class="unseen">{line.description}</span>
          </button>
        </td>
      </tr>
      {open && (
        <tr class="noprint">
          <td colSpan={5}>
            <Matches {...{ api, environment, invoice, line }} />
          </td>
        </tr>
      )}
    </>
  );
}

function Matches({ api, environment, invoice, line }: Omit<LineProps, 'open' | 'onOpen'>) {
  const path = `invoices/${invoice.invoiceId}/lines/${line.lineId}/matches`;
  const { entries, error, whole } = useList<LineMatch>(
    api,
    `${path}?environment=${environment}`,
    'matches',
    true,
  );
  if (error !== null) return <Problem error={error} />;
  if (entries === null || !whole) return <p class="quiet small">Reading the matches …</p>;
  const rest = entries.slice(MATCHES_SHOWN);
  const sum = rest.reduce((total, match) => total + match.rakeUsdCents, 0);
  return (
    <ul class="matches small">
      {entries.slice(0, MATCHES_SHOWN).map((match) => (
        <li key={match.matchId}>
          <a class="mono" href={linkTo(environment, 'matches', match.matchId)}>
            {match.matchId}
          </a>{' '}
          {clockOf(match.endedAt)}, {dollars(match.rakeUsdCents)}
        </li>
      ))}
      {rest.length > 0 && (
        <li class="quiet">
          {many(rest.length, 'match more', 'matches more')}, {dollars(sum)}
        </li>
      )}
    </ul>
  );
}
