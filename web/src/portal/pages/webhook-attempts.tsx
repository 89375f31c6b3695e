/** The log of attempts. A row opens in place; its address is `?open=`. */

import { useQuery } from '../address';
import type { Environment } from '../api';
import { ATTEMPT_DAYS } from '../parts/bounds';
import { Button, LinkButton } from '../parts/button';
import { Card } from '../parts/card';
import { Copy, Id } from '../parts/copy';
import { beginOf, isDay } from '../parts/days';
import { Choice, Day, Search } from '../parts/filters';
import { countOf, many } from '../parts/format';
import { LongTable } from '../parts/long-table';
import { Empty, Tag } from '../parts/note';
import { OpenRow } from '../parts/open-row';
import type { Column } from '../parts/table';
import { Full, Moment } from '../parts/time';
import { linkTo } from '../routes';
import {
  aboutOf,
  attemptsOf,
  bodyOf,
  curlOf,
  nextOf,
  outcomeOf,
  requestOf,
} from '../words/attempts';
import type { Attempt, Outcome, Webhook } from '../words/attempts';

const DAY_S = 86_400;

const OUTCOMES: readonly Outcome[] = ['all', 'failed', 'delivered', 'test'];

interface AttemptsProps {
  attempts: readonly Attempt[];
  whole: boolean;
  environment: Environment;
  webhook: Webhook;
  partnerId: string;
  /** null for members who may not resend a nudge, and while the endpoint is off. */
  resend: Resending | null;
}

export interface Resending {
  busy: boolean;
  /** Sends the nudge of an attempt again; calls `then` with the id of the new attempt. */
  send(attempt: Attempt, then: (attemptId: string) => void): void;
}

function columnsOf(
  environment: Environment,
  open: string | null,
  onOpen: (id: string | null) => void,
): readonly Column<Attempt>[] {
  return [
    { head: 'When, UTC', cell: ({ at }) => <Moment at={at} /> },
    {
      head: 'Outcome',
      cell: (attempt) => (
        <Tag tone={attempt.delivered ? 'good' : 'bad'} icon={attempt.delivered ? 'check' : 'no'}>
          {outcomeOf(attempt)}
        </Tag>
      ),
    },
    { head: 'Took', cell: ({ durationMs }) => `${countOf(durationMs)} ms` },
    {
      head: 'Try',
      wide: true,
      cell: ({ try: number, test, resend }) =>
        resend ? 'resend' : test ? '1 of 1' : `${number} of 3`,
    },
    {
      head: 'About',
      fills: true,
      cell: (attempt) =>
        attempt.matchId === undefined || attempt.test ? (
          aboutOf(attempt)
        ) : (
          <a class="mono" href={linkTo(environment, 'matches', attempt.matchId)}>
            {attempt.matchId}
          </a>
        ),
    },
    {
      head: '',
      cell: ({ attemptId, nudgeId }) => (
        <OpenRow
          open={attemptId === open}
          about={nudgeId}
          onPress={() => onOpen(attemptId === open ? null : attemptId)}
        />
      ),
    },
  ];
}

export function Attempts(props: AttemptsProps) {
  const { attempts, whole, environment, webhook, partnerId, resend } = props;
  const [query, change] = useQuery();
  const asked = query.get('outcome');
  const outcome = OUTCOMES.find((name) => name === asked) ?? 'all';
  const [from, to] = [query.get('from') ?? '', query.get('to') ?? ''];
  const text = query.get('q') ?? '';
  const since = isDay(from) ? beginOf(from) : null;
  const before = isDay(to) ? beginOf(to) + DAY_S : null;
  const shown = attemptsOf(attempts, { outcome, text, since, before });
  const failed = attemptsOf(attempts, { outcome: 'failed', text, since, before }).length;
  const open = query.get('open');
  const drop = () => change({ outcome: null, q: null, from: null, to: null });
  return (
    <Card flush title="Attempts" aside={<Count of={shown.length} whole={whole} />}>
      <div class="filters" role="search">
        <Choice<Outcome>
          label="Outcome"
          choices={[
            ['all', 'All'],
            ['failed', `Failed ${countOf(failed)}`],
            ['delivered', 'Delivered'],
            ['test', 'Test events'],
          ]}
          value={outcome}
          onChoose={(name) => change({ outcome: name === 'all' ? null : name })}
        />
        <Search
          label="Id of a nudge or match, or a word of your answer"
          hint="ndg_, mat_ or a word"
          value={text}
          onSearch={(q) => change({ q })}
        />
        <Day label="From" value={from} onChoose={(day) => change({ from: day })} />
        <Day label="To" value={to} onChoose={(day) => change({ to: day })} />
      </div>
      {shown.length === 0 ? (
        <Nothing outside={attempts.length} onDrop={drop} />
      ) : (
        <LongTable
          label="Attempts"
          columns={columnsOf(environment, open, (id) => change({ open: id }))}
          rows={shown}
          keyOf={({ attemptId }) => attemptId}
          whole={whole}
          open={open}
          detail={(attempt) => (
            <Opened
              {...{ attempt, environment, webhook, partnerId, resend }}
              all={attempts}
              onResent={(id) => change({ open: id })}
            />
          )}
        />
      )}
    </Card>
  );
}

/** How many attempts are listed. It stands beside the title, where it has room at any width. */
function Count({ of, whole }: { of: number; whole: boolean }) {
  return (
    <span class="small quiet">
      <span role="status">
        {many(of, 'attempt')}
        {whole ? '' : ' so far'}
      </span>{' '}
      of the last {ATTEMPT_DAYS} days, newest first
    </span>
  );
}

function Nothing({ outside, onDrop }: { outside: number; onDrop(): void }) {
  if (outside === 0) {
    return (
      <Empty icon="hook" title="Nothing has been sent yet">
        Each attempt is listed here for {ATTEMPT_DAYS} days, with what your server answered.
      </Empty>
    );
  }
  const acts = <Button onPress={onDrop}>Clear the filters</Button>;
  return (
    <Empty icon="hook" title="Nothing matches these filters" acts={acts}>
      They hide {many(outside, 'attempt')}.
    </Empty>
  );
}

interface OpenedProps extends Omit<AttemptsProps, 'attempts' | 'whole'> {
  attempt: Attempt;
  all: readonly Attempt[];
  onResent(attemptId: string): void;
}

function Opened(props: OpenedProps) {
  const { attempt, all, environment, webhook, partnerId, resend, onResent } = props;
  const body = bodyOf(attempt, all, partnerId);
  const { statusCode, durationMs, error, responseBody, matchId, test } = attempt;
  const answered =
    statusCode === undefined
      ? `No answer after ${durationMs} ms: ${error ?? 'unknown'}`
      : `${statusCode} in ${durationMs} ms\n\n${responseBody}`;
  return (
    <div class="cols opened">
      <div class="stack tight">
        <h3>What we sent</h3>
        <pre class="wrap" tabIndex={0} role="region" aria-label="Request">
          {requestOf(webhook.url, body)}
        </pre>
        <div class="row">
          {resend !== null && !test && (
            <Button icon="bell" busy={resend.busy} onPress={() => resend.send(attempt, onResent)}>
              Resend
            </Button>
          )}
          <Copy text={curlOf(webhook.url, body)} label="Copy as curl" />
          {matchId !== undefined && !test && (
            <LinkButton href={linkTo(environment, 'matches', matchId)}>Open the match</LinkButton>
          )}
        </div>
        <p class="small quiet">
          The copied command sends this nudge from your machine, signed with the secret in{' '}
          <code>$SECRET</code>.
        </p>
      </div>
      <div class="stack tight">
        <h3>What you answered</h3>
        <pre class="wrap" tabIndex={0} role="region" aria-label="Answer">
          {answered.trimEnd()}
        </pre>
        <dl class="kv dense">
          <dt>When</dt>
          <dd>
            <Full at={attempt.at} />
          </dd>
          <dt>Attempt</dt>
          <dd>
            <Id id={attempt.attemptId} what="the id of the attempt" />
          </dd>
          <dt>Nudge</dt>
          <dd>
            <Id id={attempt.nudgeId} what="the id of the nudge" />
          </dd>
          <dt>Next</dt>
          <dd>{nextOf(attempt, all)}</dd>
        </dl>
      </div>
    </div>
  );
}
