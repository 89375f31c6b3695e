/** The seats that are in no match yet, and the page of one of them. */

import { useEffect } from 'preact/hooks';
import { go } from '../address';
import { Refused } from '../api';
import type { Environment } from '../api';
import type { Seat } from '../match/match';
import { GameAndTier } from '../parts/game-and-tier';
import { WaitingSeats } from '../match/waiting';
import { curlOf } from '../now/curl';
import { BoldFirst, PageFrame, useKeptFresh, useReading, useReadWithAll } from '../page';
import type { PageProps } from '../page';
import { Button, LinkButton } from '../parts/button';
import { Card } from '../parts/card';
import { Code, Copy, Id } from '../parts/copy';
import { dollars, many, timeOf } from '../parts/format';
import { useList } from '../parts/list';
import { Empty } from '../parts/note';
import { Full } from '../parts/time';
import { linkTo } from '../routes';

export default function Seats(props: PageProps) {
  return props.id === null ? <All {...props} /> : <One {...props} id={props.id} />;
}

/** How many seats wait, and how many are pending, in two parts. `whole`: these are all. */
export function waitsSay(
  seats: readonly Pick<Seat, 'status'>[],
  whole: boolean,
  environment: Environment,
): [string, string] {
  const least = whole ? '' : 'At least ';
  const waiting = seats.filter(({ status }) => status === 'waiting').length;
  const pending = seats.length - waiting;
  const wait = `${many(waiting, 'seat')} ${waiting === 1 ? 'waits' : 'wait'} for an opponent`;
  return [
    waiting === 0 && whole
      ? `Nobody waits in ${environment}.`
      : `${least}${wait} in ${environment}.`,
    pending === 0
      ? ''
      : `${least}${many(pending, 'seat')} ${pending === 1 ? 'is' : 'are'} pending: the stake is ` +
        'not confirmed yet.',
  ];
}

function All({ api, environment }: PageProps) {
  const path = `seats?environment=${environment}`;
  const { entries, whole, error, more, readAgain } = useList<Seat>(api, path, 'seats', false);
  useReadWithAll(readAgain);
  useKeptFresh(readAgain);
  const seats = [...(entries ?? [])].sort((one, other) => one.seatedAt - other.seatedAt);
  return (
    <PageFrame
      title="Waiting seats"
      answer={
        seats.length === 0 ? (
          `Nobody waits in ${environment}.`
        ) : (
          <BoldFirst parts={waitsSay(seats, whole, environment)} />
        )
      }
      error={error}
      loading={entries === null}
    >
      <Card flush foot={whole ? undefined : <Button onPress={more}>Show more</Button>}>
        {seats.length === 0 ? (
          <Empty icon="seat" title="A seat waits until it is paired">
            If no opponent comes in time, the stake is returned, and the seat ends alone.
          </Empty>
        ) : (
          <WaitingSeats {...{ environment, seats }} />
        )}
      </Card>
    </PageFrame>
  );
}

const HELD_BACK: Record<string, string> = {
  player_absent: 'It is not paired now: its player does not have the frame open.',
  player_busy: 'It is not paired now: its player still plays another live match.',
};

const TITLES: Record<string, string> = {
  waiting: 'waits for an opponent',
  pending: 'has a stake that is not confirmed yet',
  declined: 'could not pay the stake',
};

/** What a seat means for its player, in sentences that support can send. */
export function toPlayer({ status, stakeUsdCents, seatedAt, expiresAt }: Seat): string {
  const stake = dollars(stakeUsdCents);
  if (status === 'declined') return `Your payment of ${stake} was declined. Nothing was charged.`;
  if (status === 'pending') {
    return `Your payment of ${stake} is not confirmed yet. You cannot be paired before that.`;
  }
  return (
    `You paid ${stake} and have been waiting for an opponent since ${timeOf(seatedAt)}. If ` +
    `nobody comes by ${timeOf(expiresAt)}, all of it is returned to you.`
  );
}

const findIn = (environment: Environment, text: string) =>
  `${linkTo(environment, 'find')}?q=${encodeURIComponent(text)}`;

function One({ api, environment, id }: PageProps & { id: string }) {
  const path = `seats/${encodeURIComponent(id)}?environment=${environment}`;
  const { value: seat, error, readAgain } = useReading<Seat>(api, path);
  useKeptFresh(readAgain, seat !== null && seat.status !== 'declined');
  const matchId = seat?.matchId ?? null;
  useEffect(() => {
    if (matchId !== null) go(linkTo(environment, 'matches', matchId), true);
  }, [matchId]);
  const unknown = error instanceof Refused && error.reason === 'seat_not_found';
  return (
    <>
      <p class="crumb">
        <a href={linkTo(environment, 'seats')}>Waiting seats</a> /{' '}
        <span class="mono">{id}</span> <Copy text={id} what="the id of the seat" small />
      </p>
      <PageFrame
        title={
          unknown
            ? 'No such seat'
            : seat === null
              ? 'Seat'
              : `${seat.playerId} ${TITLES[seat.status] ?? seat.status}`
        }
        answer={
          unknown ? `Nothing in ${environment} has this id.` : seat && <Answer seat={seat} />
        }
        error={unknown ? null : error}
        loading={seat === null && !unknown}
      >
        {unknown && (
          <LinkButton kind="pri" href={findIn(environment, id)}>
            Look for it in test and live
          </LinkButton>
        )}
        {seat !== null && <Life {...{ seat, environment }} />}
      </PageFrame>
    </>
  );
}

function Answer({ seat }: { seat: Seat }) {
  if (seat.status !== 'waiting') {
    const said =
      seat.status === 'pending'
        ? `Settlement has not said yet whether it holds ${dollars(seat.stakeUsdCents)}.`
        : 'Nothing is held.';
    return <strong>{said}</strong>;
  }
  return (
    <>
      <strong>
        {dollars(seat.stakeUsdCents)} is held until an opponent comes, or until{' '}
        {timeOf(seat.expiresAt)}. Then it goes back by itself.
      </strong>{' '}
      {HELD_BACK[seat.heldBack ?? '']}
    </>
  );
}

function Life({ seat, environment }: { seat: Seat; environment: Environment }) {
  const { seatId, status, seatedAt, expiresAt, gameId, tierId, prizeUsdCents } = seat;
  const text = toPlayer(seat);
  return (
    <>
      <Card title="Details">
        <dl class="kv">
          <dt>Player</dt>
          <dd>
            <a href={findIn(environment, seat.playerId)}>{seat.playerId}</a>
          </dd>
          <dt>{status === 'waiting' ? 'Waiting since' : 'Asked for'}</dt>
          <dd>
            <Full at={seatedAt} />
          </dd>
          {status === 'waiting' && (
            <>
              <dt>Until</dt>
              <dd>{timeOf(expiresAt, 'not yet known')}</dd>
            </>
          )}
          <dt>Stake</dt>
          <dd>
            {dollars(seat.stakeUsdCents)}, {seat.stakeStatus}
          </dd>
          <dt>Game and tier</dt>
          <dd>
            <GameAndTier {...{ gameId, tierId }} />, prize {dollars(prizeUsdCents)}
          </dd>
          <dt>Your reference</dt>
          <dd>{seat.partnerRef ?? 'none'}</dd>
          <dt>Idempotency key</dt>
          <dd>
            <Id id={seat.idempotencyKey} what="the idempotency key" />
          </dd>
        </dl>
      </Card>
      <Card title="What you can tell the player">
        <p>{text}</p>
        <div>
          <Copy text={text} what="the text for the player" />
        </div>
      </Card>
      {status === 'waiting' && (
        <Card title="Take it back before that">
          <p>
            Your server can end the waiting with this call. The whole stake is returned, and the
            seat can no longer be paired.
          </p>
          <Code
            label="Call that takes the seat back"
            text={curlOf(environment, 'POST', `/partner/seats/${seatId}/cancel`)}
          />
        </Card>
      )}
    </>
  );
}
