import { useState } from 'preact/hooks';
import { useQuery } from '../address';
import { useNameOf } from '../catalog';
import { namesOf } from '../changes';
import { PageFrame, useReading } from '../page';
import type { PageProps } from '../page';
import { Button } from '../parts/button';
import { Card } from '../parts/card';
import { save } from '../parts/csv';
import { beginOf, isDay } from '../parts/days';
import { Day, Pick, Search } from '../parts/filters';
import { Copy, Id } from '../parts/copy';
import { countOf, many } from '../parts/format';
import { ENTRIES_MAX, useList } from '../parts/list';
import { LongTable } from '../parts/long-table';
import { Empty, Tag } from '../parts/note';
import { OpenRow } from '../parts/open-row';
import type { Column } from '../parts/table';
import { Ago, Full, Moment } from '../parts/time';
import { linkTo } from '../routes';
import { entriesOf, kindOf, placeOf, PLATFORM, sentenceOf, whereOf, whoOf } from '../words/events';
import type { Entry, EntryFilter, Names } from '../words/events';

const DAY_S = 86_400;

interface Named {
  keys?: { keyId: string; label: string; last4: string }[];
  members?: { uid: string; email: string }[];
}

type Open = (eventId: string | null) => void;

function columnsOf(names: Names, open: string | null, onOpen: Open): readonly Column<Entry>[] {
  return [
    { head: 'When, UTC', cell: ({ at }) => <Moment at={at} /> },
    { head: 'Who', cell: (entry) => whoOf(entry, names) },
    { head: 'What', fills: true, cell: (entry) => sentenceOf(entry, names) },
    {
      head: 'Where',
      cell: (entry) => {
        const where = whereOf(entry);
        return where === 'account' ? (
          <span class="quiet">account</span>
        ) : (
          <Tag tone={where}>{where}</Tag>
        );
      },
    },
    {
      head: 'Action',
      wide: true,
      cell: (entry) => <code class="quiet">{entry.action}</code>,
    },
    {
      head: '',
      cell: ({ eventId }) => (
        <OpenRow
          open={eventId === open}
          about={eventId}
          onPress={() => onOpen(eventId === open ? null : eventId)}
        />
      ),
    },
  ];
}

function answerOf(entries: readonly Entry[] | null, names: Names) {
  const last = entries?.[0];
  if (last === undefined) return 'Nothing has changed yet. Every change is listed here.';
  return (
    <>
      <strong>Who changed what, in test and in live.</strong> The last change was{' '}
      <Ago at={last.at} />: {whoOf(last, names)} {sentenceOf(last, names)}.
    </>
  );
}

function filterOf(query: URLSearchParams): EntryFilter {
  const [from, upTo] = [query.get('from') ?? '', query.get('to') ?? ''];
  return {
    text: query.get('q') ?? '',
    kind: query.get('kind') ?? '',
    actor: query.get('who') ?? '',
    since: isDay(from) ? beginOf(from) : null,
    before: isDay(upTo) ? beginOf(upTo) + DAY_S : null,
  };
}

function keep(entries: readonly Entry[], names: Names) {
  const rows = entries.map((entry) => [
    new Date(entry.at * 1000).toISOString(),
    whoOf(entry, names),
    sentenceOf(entry, names),
    whereOf(entry),
    entry.action,
    JSON.stringify(entry.detail),
    entry.eventId,
  ]);
  const heads = ['time', 'who', 'what', 'where', 'action', 'detail', 'eventId'];
  save('event-log.csv', [heads, ...rows]);
}

const FILTERS = ['q', 'kind', 'who', 'from', 'to'];

export default function Events({ api, environment }: PageProps) {
  const [query, change] = useQuery();
  const filter = filterOf(query);
  const filtered = FILTERS.some((name) => query.has(name));
  // If the address names an entry, the log is read until that entry, however old it is.
  const [sought] = useState(query.has('open'));
  const list = useList<Entry>(api, 'events', 'events', filtered || sought);
  const keys = useReading<Named>(api, 'keys?limit=500').value;
  const members = useReading<Named>(api, 'members?limit=500').value;
  const entries = list.entries ?? [];
  const names = namesOf(keys?.keys ?? [], members?.members ?? [], entries, useNameOf());
  const shown = entriesOf(entries, filter, names);
  const acts = (
    <Button icon="save" onPress={() => keep(shown, names)}>
      CSV
    </Button>
  );
  const drop = () => change(Object.fromEntries(FILTERS.map((name) => [name, null])));
  const open = query.get('open');
  return (
    <PageFrame
      title="Event log"
      answer={answerOf(list.entries, names)}
      acts={acts}
      error={list.error}
      loading={list.entries === null}
    >
      <Card flush foot={<Foot {...{ shown, entries, filtered }} whole={list.whole} />}>
        <Filters {...{ query, change, entries, names }} />
        {shown.length === 0 && list.whole ? (
          <Nothing outside={entries.length} onDrop={drop} />
        ) : (
          <LongTable
            label="Changes, the newest first"
            columns={columnsOf(names, open, (id) => change({ open: id }))}
            rows={shown}
            keyOf={(entry) => entry.eventId}
            whole={list.whole}
            onNearEnd={list.more}
            tall
            open={open}
            detail={(entry) => <Opened {...{ entry, names, environment }} />}
          />
        )}
      </Card>
    </PageFrame>
  );
}

interface OpenedProps extends Pick<PageProps, 'environment'> {
  entry: Entry;
  names: Names;
}

/** All that is recorded of a change, and a link to what it changed. */
function Opened({ entry, names, environment }: OpenedProps) {
  const where = whereOf(entry);
  const place = placeOf(entry);
  const detail = JSON.stringify(entry.detail, null, 2);
  const room = where === 'account' ? environment : where;
  const to = place && linkTo(room, place.page);
  return (
    <div class="cols opened">
      <dl class="kv dense">
        <dt>Change</dt>
        <dd>
          {whoOf(entry, names)} {sentenceOf(entry, names)}
        </dd>
        <dt>When</dt>
        <dd>
          <Full at={entry.at} />
        </dd>
        <dt>Event</dt>
        <dd>
          <Id id={entry.eventId} what="the id of the event" />
        </dd>
        <dt>Who</dt>
        <dd>
          <Id id={entry.actor} what="the id of who did it" />
        </dd>
        {place !== null && (
          <>
            <dt>See it in</dt>
            <dd>
              <a href={`${to}${place.id === null ? '' : `?open=${place.id}`}`}>
                {place.title}
                {where === 'account' ? '' : `, ${where}`}
              </a>
            </dd>
          </>
        )}
      </dl>
      {detail === '{}' ? (
        <p class="quiet">Nothing more is recorded of this change.</p>
      ) : (
        <div class="stack tight">
          <pre class="wrap" tabIndex={0} role="region" aria-label="Detail">
            {detail}
          </pre>
          <div>
            <Copy text={detail} label="Copy the detail" />
          </div>
        </div>
      )}
    </div>
  );
}

interface FiltersProps {
  query: URLSearchParams;
  change(changes: Record<string, string | null>): void;
  entries: readonly Entry[];
  names: Names;
}

function Filters({ query, change, entries, names }: FiltersProps) {
  const kinds = [...new Set(entries.map(kindOf))].sort();
  const actors = [...new Set(entries.map((entry) => entry.actor))];
  const who = (actor: string) =>
    [actor, actor === PLATFORM ? 'the platform' : (names.get(actor) ?? actor)] as const;
  return (
    <div class="filters" role="search">
      <Search
        label="Search"
        hint="Action, person or id"
        value={query.get('q') ?? ''}
        onSearch={(q) => change({ q })}
      />
      <Pick
        label="Kind"
        choices={[['', 'Every kind'], ...kinds.map((kind) => [kind, kind] as const)]}
        value={query.get('kind') ?? ''}
        onChoose={(kind) => change({ kind })}
      />
      <Pick
        label="Who"
        choices={[['', 'Everybody'], ...actors.map(who)]}
        value={query.get('who') ?? ''}
        onChoose={(actor) => change({ who: actor })}
      />
      <Day
        label="From"
        value={query.get('from') ?? ''}
        onChoose={(from) => change({ from })}
      />
      <Day label="To" value={query.get('to') ?? ''} onChoose={(to) => change({ to })} />
    </div>
  );
}

interface FootProps {
  shown: readonly Entry[];
  entries: readonly Entry[];
  filtered: boolean;
  whole: boolean;
}

function Foot({ shown, entries, filtered, whole }: FootProps) {
  if (!whole && filtered)
    return <span role="status">Searching. {countOf(shown.length)} so far.</span>;
  if (!whole) return <>The newest {countOf(entries.length)}. More come as you scroll.</>;
  const kept =
    entries.length >= ENTRIES_MAX ? `the newest ${countOf(ENTRIES_MAX)}` : countOf(entries.length);
  return (
    <span role="status">
      {filtered
        ? `${countOf(shown.length)} of ${kept}.`
        : `${many(shown.length, 'entry', 'entries')}.`}{' '}
      Times are in UTC.
    </span>
  );
}

function Nothing({ outside, onDrop }: { outside: number; onDrop(): void }) {
  const acts = <Button onPress={onDrop}>Clear the filters</Button>;
  return (
    <Empty icon="log" title="Nothing matches these filters" acts={acts}>
      They hide {many(outside, 'entry', 'entries')}.
    </Empty>
  );
}
