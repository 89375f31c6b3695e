/** The seat summary: what became of the seats of some days, by game and tier. */

import { Button } from '../parts/button';
import { Card } from '../parts/card';
import { amount, save } from '../parts/csv';
import { countOf, dollars } from '../parts/format';
import type { SeatFigures, SeatSummary } from '../words/usage';

const COLUMNS: readonly (readonly [keyof SeatFigures, string])[] = [
  ['seats', 'Seats'],
  ['refunded', 'Refunded'],
  ['stakesUsdCents', 'Stakes'],
  ['payoutsUsdCents', 'Payouts'],
  ['refundsUsdCents', 'Refunds'],
  ['rakeUsdCents', 'Rake'],
  ['openUsdCents', 'Open'],
];

const isMoney = (name: string) => name.endsWith('UsdCents');

export function KeepTiers({ seats }: { seats: SeatSummary }) {
  const press = () => {
    const heads = ['game', 'tier', ...COLUMNS.map(([, head]) => head)];
    const rows = seats.rows.map((row) => [
      row.gameId,
      row.tierId,
      ...COLUMNS.map(([name]) => (isMoney(name) ? amount(row[name]) : row[name])),
    ]);
    save(`seats-${seats.from}-${seats.to}.csv`, [heads, ...rows]);
  };
  return (
    <Button icon="save" onPress={press}>
      CSV
    </Button>
  );
}

function Cells({ figures }: { figures: SeatFigures }) {
  return (
    <>
      {COLUMNS.map(([name]) => (
        <td key={name} class={figures[name] === 0 ? 'r quiet' : 'r'}>
          {isMoney(name) ? dollars(figures[name]) : countOf(figures[name])}
        </td>
      ))}
    </>
  );
}

export function ByTier({ seats }: { seats: SeatSummary }) {
  return (
    <Card flush foot="A seat counts on the day on which its stake was confirmed.">
      <div class="scroll" tabIndex={0} role="region" aria-label="Seats by game and tier">
        <table class="t">
          <thead>
            <tr>
              <th scope="col">Game</th>
              <th scope="col">Tier</th>
              {COLUMNS.map(([name, head]) => (
                <th key={name} scope="col" class="r">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {seats.rows.map((row) => (
              <tr key={`${row.gameId} ${row.tierId}`}>
                <th scope="row">{row.gameId}</th>
                <td>{row.tierId}</td>
                <Cells figures={row} />
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row" colSpan={2}>
                Total
              </th>
              <Cells figures={seats.totals} />
            </tr>
          </tfoot>
        </table>
      </div>
    </Card>
  );
}
