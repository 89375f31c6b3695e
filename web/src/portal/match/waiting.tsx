/** Seats that are in no match yet, in a table, as the pages that list some show them. */

import type { Environment } from '../api';
import { Copy } from '../parts/copy';
import { dollars } from '../parts/format';
import { GameAndTier } from '../parts/game-and-tier';
import { Table } from '../parts/table';
import { Ago, ShortTime } from '../parts/time';
import { Whole } from '../parts/whole';
import { linkTo } from '../routes';
import { shortId } from './match';
import type { Seat } from './match';

interface WaitingProps {
  environment: Environment;
  seats: readonly Seat[];
}

/** The stake of a seat, and whether it is held, in a few words. */
export const heldOf = ({ stakeStatus, stakeUsdCents }: Seat) =>
  `${dollars(stakeUsdCents)} ${stakeStatus === 'confirmed' ? 'held' : stakeStatus}`;

export function WaitingSeats({ environment, seats }: WaitingProps) {
  return (
    <Table
      label="Waiting seats"
      columns={[
        {
          head: 'Seat',
          cell: ({ seatId }) => (
            <span class="id line">
              <a class="mono" href={linkTo(environment, 'seats', seatId)}>
                {shortId(seatId)}
              </a>
              <Copy text={seatId} label="" what={`Copy ${seatId}`} small />
            </span>
          ),
        },
        { head: 'Player', cell: ({ playerId }) => <Whole text={playerId} /> },
        {
          head: 'Since',
          cell: ({ seatedAt }) => (
            <span class="line">
              <Ago at={seatedAt} />
            </span>
          ),
        },
        {
          head: 'Until, UTC',
          cell: ({ expiresAt }) =>
            expiresAt === undefined ? (
              'not yet known'
            ) : (
              <span class="line">
                <ShortTime at={expiresAt} />
              </span>
            ),
        },
        { head: 'Game and tier', cell: (seat) => <GameAndTier {...seat} /> },
        { head: 'Your reference', cell: ({ partnerRef }) => <Whole text={partnerRef ?? '–'} /> },
        { head: 'Money', right: true, cell: heldOf },
      ]}
      rows={seats}
      keyOf={({ seatId }) => seatId}
    />
  );
}
