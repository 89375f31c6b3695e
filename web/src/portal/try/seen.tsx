/** What a partner's server would send and receive for a match: calls as curl, nudges, the feed. */

import type { ComponentChildren } from 'preact';
import type { Life, Nudge } from '../match/match';
import { isPaid } from '../match/match';
import { curlOf } from '../now/curl';
import { Card } from '../parts/card';
import { Code } from '../parts/copy';
import { clockOf, dollars, many } from '../parts/format';
import { Icon } from '../parts/icon';
import { Tag } from '../parts/note';
import { Table } from '../parts/table';
import { linkTo } from '../routes';
import type { Player } from './frames';

export interface Tried {
  matchId: string;
  stakeUsdCents: number;
  expiresAt: number;
  players: [Player, Player];
}

interface StepProps {
  name: string;
  title: string;
  call: string;
  state: 'done' | 'open' | 'bad';
  aside?: ComponentChildren;
  children?: ComponentChildren;
}

const ICONS = { done: ['ok', 'good'], open: ['todo', ''], bad: ['no', 'bad'] } as const;

function Step({ name, title, call, state, aside, children }: StepProps) {
  const [icon, tone] = ICONS[state];
  return (
    <li data-step={name} data-state={state}>
      <Icon name={icon} tone={tone} />
      <div>
        <h3 class={state === 'open' ? 'quiet' : ''}>
          {title} <Tag>{call}</Tag>
        </h3>
      </div>
      <span class="small quiet">{aside}</span>
      {children !== undefined && <div class="p">{children}</div>}
    </li>
  );
}

function Calls({ texts, name }: { texts: readonly string[]; name: string }) {
  return (
    <details>
      <summary>{texts.length === 1 ? 'As curl' : `As curl, ${many(texts.length, 'call')}`}</summary>
      <div class="stack tight">
        {texts.map((text, index) => (
          <Code key={index} label={`${name}, call ${index + 1} as curl`} text={text} />
        ))}
      </div>
    </details>
  );
}

interface SeenProps {
  tried: Tried;
  gameId: string;
  life: Life | null;
  /** Whether test has a webhook that is on; null while it is not known. */
  webhook: boolean | null;
}

export function Seen({ tried, gameId, life, webhook }: SeenProps) {
  const { players, matchId } = tried;
  const ended = life !== null && life.match.status !== 'started';
  const paid = life !== null && ended && isPaid(life.match);
  const rows = paid ? many(life.match.seats.length, 'row') : ended ? 'money under way' : '';
  return (
    <Card
      flush
      title="What your server would send and see"
      aside={<span class="small quiet">The key stays on your server</span>}
      foot="This page has done it all with one call of your sign-in. It never had a key."
    >
      <ol class="todo">
        <Step name="sessions" title="Two sessions" call="POST /partner/sessions" state="done">
          <Calls name="Sessions" texts={players.map((player) => sessionCurl(player, gameId))} />
        </Step>
        <Step name="seats" title="Two paid seats" call="POST /partner/matches" state="done">
          <Calls name="Seats" texts={seatCurls(tried, gameId, life)} />
        </Step>
        <Step
          name="match"
          title="Their match"
          call={`GET /partner/matches/${matchId.slice(0, 8)}…`}
          state={ended ? 'done' : 'open'}
          aside={life?.match.status}
        >
          <Calls name="Match" texts={[curlOf('test', 'GET', `/partner/matches/${matchId}`)]} />
        </Step>
        <NudgeSteps nudges={life?.nudges ?? []} webhook={webhook} />
        <Step
          name="feed"
          title={paid ? 'The result is in the feed' : 'The result in the feed, when it ends'}
          call="GET /partner/results"
          state={paid ? 'done' : 'open'}
          aside={rows}
        >
          {paid && <Feed life={life} />}
          <Calls name="Feed" texts={[curlOf('test', 'GET', '/partner/results?waitSeconds=25')]} />
        </Step>
      </ol>
    </Card>
  );
}

const sessionCurl = (player: Player, gameId: string) =>
  curlOf('test', 'POST', '/partner/sessions', {
    gameId,
    playerId: player.playerId,
    displayName: player.displayName,
  });

function seatCurls({ players, stakeUsdCents }: Tried, gameId: string, life: Life | null) {
  return players.map((player) => {
    const seat = life?.seats.find((one) => one.playerId === player.playerId);
    return curlOf('test', 'POST', '/partner/matches', {
      playerId: player.playerId,
      gameId,
      tierId: life?.match.tierId ?? '',
      stakeUsdCents,
      idempotencyKey: seat?.idempotencyKey ?? '',
    });
  });
}

const saidOf = (nudge: Nudge) =>
  nudge.statusCode === undefined ? (nudge.error ?? 'no answer') : `${nudge.statusCode}`;

function NudgeSteps({ nudges, webhook }: { nudges: readonly Nudge[]; webhook: boolean | null }) {
  if (nudges.length === 0) {
    return (
      <Step
        name="nudges"
        title={webhook === false ? 'No nudges: test has no webhook that is on' : 'Nudges'}
        call="to your webhook"
        state="open"
      >
        {webhook === false && (
          <>
            Without one your server learns of everything when it polls the feed.{' '}
            <a href={linkTo('test', 'webhooks')}>Add a webhook</a>
          </>
        )}
      </Step>
    );
  }
  const ordered = [...nudges].sort((a, b) => a.at - b.at || a.try - b.try);
  return (
    <>
      {ordered.map((nudge) => (
        <Step
          key={nudge.attemptId}
          name="nudge"
          title={`Nudge at ${clockOf(nudge.at)}${nudge.try > 1 ? `, try ${nudge.try}` : ''}`}
          call="to your webhook"
          state={nudge.delivered ? 'done' : 'bad'}
          aside={`${saidOf(nudge)}, ${nudge.durationMs} ms`}
        />
      ))}
    </>
  );
}

function Feed({ life }: { life: Life }) {
  return (
    <Table
      label="Rows of the feed"
      rows={life.match.seats}
      keyOf={(seat) => seat.seatId}
      columns={[
        { head: 'playerId', cell: (seat) => <span class="mono">{seat.playerId}</span> },
        { head: 'outcome', cell: () => life.match.status },
        { head: 'result', cell: (seat) => seat.result ?? 'absent' },
        { head: 'endReason', cell: () => life.match.endReason },
        { head: 'payout', right: true, cell: (seat) => dollars(seat.payoutUsdCents ?? 0) },
        { head: 'refund', right: true, cell: (seat) => dollars(seat.refundUsdCents ?? 0) },
        { head: 'rake', right: true, cell: (seat) => dollars(seat.rakeUsdCents ?? 0) },
      ]}
    />
  );
}
