/** The seat summary: what became of the seats of some days, by game and tier. */

import { useNameOf } from '../catalog';
import { Button } from '../parts/button';
import { Card } from '../parts/card';
import { save } from '../parts/csv';
import { Whole } from '../parts/whole';
import type { SeatFigures, SeatSummary } from '../words/usage';
import { Cells, Heads, valuesOf } from './usage-figures';
import type { Columns } from './usage-figures';

const COLUMNS: Columns<keyof SeatFigures> = [
  ['seats', 'Seats'],
  ['refunded', 'Refunded'],
  ['stakesUsdCents', 'Stakes'],
  ['payoutsUsdCents', 'Payouts'],
  ['refundsUsdCents', 'Refunds'],
  ['rakeUsdCents', 'Rake'],
];

export function KeepTiers({ seats }: { seats: SeatSummary }) {
  const press = () => {
    const heads = ['game', 'tier', ...COLUMNS.map(([, head]) => head)];
    const rows = seats.rows.map((row) => [
      row.gameId,
      row.tierId,
      ...valuesOf(COLUMNS, row),
    ]);
    save(`seats-${seats.from}-${seats.to}.csv`, [heads, ...rows]);
  };
  return (
    <Button icon="save" onPress={press}>
      CSV
    </Button>
  );
}

export function ByTier({ seats }: { seats: SeatSummary }) {
  const nameOf = useNameOf();
  return (
    <Card flush foot="A seat counts on the day on which its stake was confirmed.">
      <div class="scroll" tabIndex={0} role="region" aria-label="Seats by game and tier">
        <table class="t">
          <thead>
            <tr>
              <th scope="col">Game</th>
              <th scope="col">Tier</th>
              <Heads columns={COLUMNS} />
            </tr>
          </thead>
          <tbody>
            {seats.rows.map((row) => (
              <tr key={`${row.gameId} ${row.tierId}`}>
                <th scope="row">
                  <Whole text={nameOf(row.gameId)} />
                </th>
                <td>
                  <Whole text={nameOf(row.tierId)} />
                </td>
                <Cells columns={COLUMNS} figures={row} />
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row" colSpan={2}>
                Total
              </th>
              <Cells columns={COLUMNS} figures={seats.totals} />
            </tr>
          </tfoot>
        </table>
      </div>
    </Card>
  );
}
