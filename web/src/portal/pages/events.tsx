import { useQuery } from '../address';
import { PageFrame, useReading } from '../page';
import type { PageProps } from '../page';
import { Button } from '../parts/button';
import { Card } from '../parts/card';
import { save } from '../parts/csv';
import { beginOf, isDay } from '../parts/days';
import { Day, Pick, Search } from '../parts/filters';
import { agoOf, countOf, many, momentOf } from '../parts/format';
import { ENTRIES_MAX, useList } from '../parts/list';
import { LongTable } from '../parts/long-table';
import { Empty, Tag } from '../parts/note';
import type { Column } from '../parts/table';
import { entriesOf, kindOf, PLATFORM, sentenceOf, whereOf, whoOf } from '../words/events';
import type { Entry, EntryFilter, Names } from '../words/events';
import '../styles/figures.css';

const DAY_S = 86_400;

interface Named {
  keys?: { keyId: string; label: string; last4: string }[];
  members?: { uid: string; email: string }[];
}

function namesOf(keys: Named | null, members: Named | null): Names {
  const found = new Map<string, string>();
  for (const { keyId, label, last4 } of keys?.keys ?? []) found.set(keyId, `${label}, …${last4}`);
  for (const { uid, email } of members?.members ?? []) found.set(uid, email);
  return found;
}

function columnsOf(names: Names): readonly Column<Entry>[] {
  return [
    { head: 'When, UTC', cell: (entry) => momentOf(entry.at) },
    { head: 'Who', cell: (entry) => whoOf(entry, names) },
    { head: 'What', cell: (entry) => sentenceOf(entry, names) },
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
    { head: 'Action', cell: (entry) => <code class="quiet">{entry.action}</code> },
  ];
}

function answerOf(entries: readonly Entry[] | null, names: Names) {
  const last = entries?.[0];
  if (last === undefined) return 'Nothing has changed yet. Every change will stand here.';
  return (
    <>
      <strong>Who changed what, in test and in live.</strong> The last change was{' '}
      {agoOf(last.at)}:{' '}
      {whoOf(last, names)} {sentenceOf(last, names)}.
    </>
  );
}

function filterOf(query: URLSearchParams): EntryFilter {
  const upTo = query.get('to') ?? '';
  return {
    text: query.get('q') ?? '',
    kind: query.get('kind') ?? '',
    actor: query.get('who') ?? '',
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

export default function Events({ api }: PageProps) {
  const [query, change] = useQuery();
  const filter = filterOf(query);
  const filtered = ['q', 'kind', 'who', 'to'].some((name) => query.has(name));
  const list = useList<Entry>(api, 'events', 'events', filtered);
  const keys = useReading<Named>(api, 'keys?limit=500').value;
  const members = useReading<Named>(api, 'members?limit=500').value;
  const names = namesOf(keys, members);
  const entries = list.entries ?? [];
  const shown = entriesOf(entries, filter, names);
  const acts = (
    <Button icon="save" onPress={() => keep(shown, names)}>
      CSV
    </Button>
  );
  const drop = () => change({ q: null, kind: null, who: null, to: null });
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
            columns={columnsOf(names)}
            rows={shown}
            keyOf={(entry) => entry.eventId}
            whole={list.whole}
            onNearEnd={list.more}
          />
        )}
      </Card>
    </PageFrame>
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
      <Day label="Up to day" value={query.get('to') ?? ''} onChoose={(to) => change({ to })} />
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
  const acts = <Button onPress={onDrop}>Drop the filters</Button>;
  return (
    <Empty icon="log" title="Nothing matches these filters" acts={acts}>
      {many(outside, 'entry lies', 'entries lie')} outside them.
    </Empty>
  );
}
