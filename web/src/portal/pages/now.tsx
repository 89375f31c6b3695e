/** Calls as they are made, with seats, matches and nudges. A reload forgets them. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { useQuery } from '../address';
import { useNameOf } from '../catalog';
import type { NameOf } from '../catalog';
import { Detail } from '../now/detail';
import { curlOf } from '../now/curl';
import { keepRows, keptRows } from '../now/kept';
import { useLive } from '../now/live';
import type { LiveEvent } from '../now/live';
import { FILTERS, passes, ROWS_MAX, summaryOf, withEvent, wordsOf } from '../now/rows';
import type { Filter, NowRow } from '../now/rows';
import { wordsOfReason } from '../now/refusals';
import { PageFrame } from '../page';
import type { PageProps } from '../page';
import { Button, LinkButton } from '../parts/button';
import { Card } from '../parts/card';
import { Code } from '../parts/copy';
import { clockOf, countOf, many } from '../parts/format';
import { Icon } from '../parts/icon';
import { Empty, Note, Tag } from '../parts/note';
import { linkTo } from '../routes';

/** How often the count of new events is spoken while the stream is paused, in milliseconds. */
const SPEAK_MS = 5000;

interface Budget {
  left: number;
  burst: number;
}

/** The rows that are shown, those that a pause holds back, and how many calls the limit allows. */
function useRows({ api, environment }: PageProps) {
  const [rows, setRows] = useState(() => keptRows(api, environment));
  const [waiting, setWaiting] = useState<LiveEvent[]>([]);
  const [arrived, setArrived] = useState(0);
  const [paused, setPaused] = useState(false);
  const [budget, setBudget] = useState<Budget | null>(null);
  const number = useRef(rows[0]?.number ?? 0);
  const joined = (before: NowRow[], events: readonly LiveEvent[]) =>
    events.reduce((kept, event) => withEvent(kept, event, (number.current += 1)), before);
  const add = (events: readonly LiveEvent[]) => setRows((before) => joined(before, events));
  const leave = useRef(() => {});
  leave.current = () => keepRows(api, environment, joined(rows, waiting));
  useEffect(() => () => leave.current(), []);
  const { standing, error } = useLive(api, environment, (events) => {
    const level = events.filter((event) => event.kind === 'budget').at(-1);
    if (level !== undefined) setBudget({ left: level.left, burst: level.burst });
    const told = events.filter((event) => event.kind !== 'budget');
    if (told.length === 0) return;
    if (!paused) add(told);
    else {
      setWaiting((before) => [...before, ...told].slice(-ROWS_MAX));
      setArrived((count) => count + told.length);
    }
  });
  const toggle = () => {
    if (paused) {
      add(waiting);
      setWaiting([]);
      setArrived(0);
    }
    setPaused(!paused);
  };
  return { rows, arrived, paused, toggle, budget, standing, error };
}

const TYPING = 'input, textarea, select, button, a, summary, [role=region], [contenteditable]';

/** Lets the space bar pause and resume the stream, except where it means something else. */
function useSpace(toggle: () => void) {
  const doing = useRef(toggle);
  doing.current = toggle;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== ' ' || event.repeat || event.ctrlKey || event.metaKey) return;
      const target = event.target as Element | null;
      const inStream = target?.closest('.feed') !== null;
      if (!inStream && target?.closest(TYPING)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      doing.current();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}

export default function CallsNow(props: PageProps) {
  const { environment } = props;
  const nameOf = useNameOf();
  const stream = useRows(props);
  const { rows, arrived, paused, toggle, budget, standing, error } = stream;
  const [query, change] = useQuery();
  const [picked, pick] = useState<NowRow | null>(null);
  useSpace(toggle);
  const filter = FILTERS.find((name) => name === query.get('only')) ?? 'all';
  const shown = rows.filter((row) => passes(filter, row.event));
  const { refused } = summaryOf(rows);
  const open = picked ?? refused[0] ?? null;
  const empty = rows.length === 0 && !paused;
  const only = (name: Filter) => change({ only: name === 'all' ? null : name });
  const acts = (
    <Button
      {...(paused ? { kind: 'pri' } : {})}
      icon={paused ? 'play' : 'pause'}
      onPress={toggle}
    >
      {paused ? `Go on${arrived > 0 ? `, ${countOf(arrived)} new` : ''}` : 'Pause'}
    </Button>
  );
  return (
    <PageFrame
      title="Calls now"
      answer={<Answer rows={rows} environment={environment} />}
      acts={acts}
      error={standing === 'away' ? error : null}
      loading={false}
    >
      <Spoken paused={paused} arrived={arrived} />
      {standing === 'away' && (
        <Note tone="warn">
          The stream is not open. What came stays here, and the page asks again by itself.
        </Note>
      )}
      {empty ? (
        <Nothing environment={environment} />
      ) : (
        <>
          <div class="row">
            <Filters filter={filter} onPick={only} />
            <span class="grow" />
            {budget !== null && <Level budget={budget} />}
          </div>
          <div class="split even">
            <Stream rows={shown} all={rows.length} picked={open} onPick={pick} nameOf={nameOf} />
            {open !== null && <Detail event={open.event} {...{ environment, nameOf }} />}
          </div>
        </>
      )}
    </PageFrame>
  );
}

function Answer({ rows, environment }: { rows: readonly NowRow[]; environment: string }) {
  const { calls, refused } = summaryOf(rows);
  const newest = refused[0]?.event;
  if (rows.length === 0) {
    return <>Listening in {environment}. Make a call, and it is here within a second.</>;
  }
  if (newest === undefined) {
    return <strong>{many(calls, 'call')}, none of them refused.</strong>;
  }
  const reasons = new Set(refused.map(({ event }) => ('reason' in event ? event.reason : '')));
  const reason = 'reason' in newest ? newest.reason : undefined;
  const why = reason === undefined ? 'a malformed call' : wordsOfReason(reason);
  const same = refused.length > 1 && reasons.size === 1 ? ', all for the same reason' : '';
  return (
    <>
      <strong>
        Refused: {countOf(refused.length)} of {many(calls, 'call')}
        {same}.
      </strong>{' '}
      The last one at {clockOf(newest.at)}: {why}.
    </>
  );
}

/** Announces whether the stream is paused, and from time to time how many events are new. */
function Spoken({ paused, arrived }: { paused: boolean; arrived: number }) {
  const [said, say] = useState('');
  const latest = useRef(arrived);
  latest.current = arrived;
  useEffect(() => {
    if (!paused) {
      say('');
      return;
    }
    say('Paused.');
    const timer = setInterval(() => {
      if (latest.current > 0) say(`Paused, ${countOf(latest.current)} new.`);
    }, SPEAK_MS);
    return () => clearInterval(timer);
  }, [paused]);
  return (
    <p class="unseen" role="status">
      {said}
    </p>
  );
}

function Filters({ filter, onPick }: { filter: Filter; onPick(name: Filter): void }) {
  return (
    <div class="seg kinds" role="group" aria-label="What is listed">
      {FILTERS.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === filter}
          onClick={() => onPick(name)}
        >
          {name[0]!.toUpperCase() + name.slice(1)}
        </button>
      ))}
    </div>
  );
}

function Level({ budget: { left, burst } }: { budget: Budget }) {
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    if (bar.current) bar.current.style.width = `${Math.round((100 * left) / Math.max(1, burst))}%`;
  });
  return (
    <div class="level">
      <div class="row small quiet">
        <span class="grow">Budget</span>
        <span>
          {countOf(left)} of {countOf(burst)}
        </span>
      </div>
      <div
        class="meter"
        role="meter"
        aria-label="Calls left in the budget"
        aria-valuemin={0}
        aria-valuemax={burst}
        aria-valuenow={left}
      >
        <i ref={bar} />
      </div>
    </div>
  );
}

interface StreamProps {
  nameOf: NameOf;
  rows: readonly NowRow[];
  all: number;
  picked: NowRow | null;
  onPick(row: NowRow): void;
}

/** Moves the focus among the rows. */
function walk(event: KeyboardEvent) {
  const step = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' } as const;
  const name = step[event.key as keyof typeof step];
  if (name === undefined) return;
  const next = (event.target as Element).closest('li')?.[name]?.querySelector('button');
  if (!next) return;
  event.preventDefault();
  next.focus();
}

function Stream({ rows, all, picked, onPick, nameOf }: StreamProps) {
  if (rows.length === 0) {
    return <Note>{many(all, 'event lies', 'events lie')} outside this filter.</Note>;
  }
  return (
    <section class="card" aria-label="Stream">
      <ul class="feed" aria-live="off" onKeyDown={walk}>
        {rows.map((row) => {
          const { icon, tone, title, small, tag, tagTone } = wordsOf(row.event, nameOf);
          return (
            <li key={row.number} data-kind={row.event.kind}>
              <button
                type="button"
                aria-current={row === picked ? 'true' : undefined}
                onClick={() => onPick(row)}
              >
                <time>{clockOf(row.event.at)}</time>
                <Icon name={icon} tone={tone} />
                <span>
                  {title}
                  <small>{small}</small>
                </span>
                {tag !== '' && <Tag tone={tagTone}>{tag}</Tag>}
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Nothing({ environment }: { environment: PageProps['environment'] }) {
  return (
    <Card>
      <Empty
        icon="pulse"
        title="Nothing has called yet"
        acts={
          environment === 'test' && (
            <LinkButton kind="pri" href={linkTo('test', 'try')}>
              Or play a test match
            </LinkButton>
          )
        }
      >
        Each call with a {environment} key shows up here as it is made, and if it is refused, why
        and what to send instead. The newest {ROWS_MAX} rows stay while you look at
        other pages. Reload the portal, and they are gone.
      </Empty>
      <Code label="Call as curl" text={curlOf(environment, 'GET', '/partner/me')} />
    </Card>
  );
}
