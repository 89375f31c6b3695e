/** Looking for a match by whatever a player or a log gives: any id, a player, a reference. */

import { useEffect, useState } from 'preact/hooks';
import { go, useQuery } from '../address';
import type { Api, Environment } from '../api';
import { PageFrame, Problem, READ_AGAIN } from '../page';
import type { PageProps } from '../page';
import { Button } from '../parts/button';
import { Card } from '../parts/card';
import { agoOf, many, timeOf } from '../parts/format';
import { useList } from '../parts/list';
import { matchColumns } from '../match/columns';
import type { Match } from '../match/match';
import { Empty, Note } from '../parts/note';
import { Table } from '../parts/table';
import { linkTo } from '../routes';
import '../styles/find.css';

/** How many matches one search shows. */
const SHOWN = 100;

/** How many matches are listed before a search, and how many a press adds. */
const LATEST = 20;

/** What a text may be, in the order in which the answers are preferred. */
const KINDS = [
  ['playerId', 'a player'],
  ['partnerRef', 'your reference'],
  ['idempotencyKey', 'an idempotency key'],
] as const;

type Kind = (typeof KINDS)[number][0] | 'seatId' | 'matchId';

interface Found {
  kind: Kind;
  matches: Match[];
  hasMore: boolean;
}

interface Page {
  matches: Match[];
  hasMore: boolean;
}

async function ask(api: Api, environment: Environment, kind: Kind, text: string): Promise<Found> {
  const query = `environment=${environment}`;
  if (kind === 'matchId') {
    const life = await api.read<{ match: Match }>(`matches/${encodeURIComponent(text)}?${query}`);
    return { kind, matches: [life.match], hasMore: false };
  }
  const named = `${kind}=${encodeURIComponent(text)}`;
  const page = await api.read<Page>(`matches?${query}&${named}&limit=${SHOWN}`);
  return { kind, matches: page.matches, hasMore: page.hasMore };
}

/** Returns what each meaning of a text finds, without the meanings that find nothing. */
async function search(api: Api, environment: Environment, text: string): Promise<Found[]> {
  const kinds: readonly Kind[] = text.startsWith('mat_')
    ? ['matchId']
    : text.startsWith('sea_')
      ? ['seatId']
      : KINDS.map(([kind]) => kind);
  const answers = await Promise.all(
    kinds.map((kind) =>
      ask(api, environment, kind, text).catch((error: unknown) => {
        if ((error as { reason?: string }).reason === 'match_not_found') return null;
        throw error;
      }),
    ),
  );
  return answers.filter((found): found is Found => found !== null && found.matches.length > 0);
}

interface Searched {
  text: string;
  here: Found[];
  /** What the other environment has, looked up where this one has nothing. */
  there: Found[];
}

const countMatches = (found: Found) => many(found.matches.length, 'match', 'matches');

const otherOf = (environment: Environment): Environment =>
  environment === 'test' ? 'live' : 'test';

function useSearch(api: Api, environment: Environment, text: string) {
  const [searched, set] = useState<Searched | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    let wanted = true;
    set(null);
    setError(null);
    const look = async () => {
      const here = await search(api, environment, text);
      const there = here.length > 0 ? [] : await search(api, otherOf(environment), text);
      if (wanted) set({ text, here, there });
    };
    if (text !== '') look().catch((failed: unknown) => wanted && setError(failed));
    return () => {
      wanted = false;
    };
  }, [api, environment, text]);
  return { searched, error };
}

export default function FindAMatch({ api, environment }: PageProps) {
  const [query, change] = useQuery();
  const text = query.get('q') ?? '';
  const [typed, type] = useState(text);
  useEffect(() => type(text), [text]);
  const { searched, error } = useSearch(api, environment, text);
  const wanted = searched?.here.find((found) => found.kind === query.get('as'));
  const found = wanted ?? searched?.here[0] ?? null;
  const only = found?.kind === 'matchId' || found?.kind === 'seatId' ? found.matches[0] : null;
  useEffect(() => {
    if (only) go(linkTo(environment, 'matches', only.matchId), true);
  }, [only?.matchId]);
  const send = (event: Event) => {
    event.preventDefault();
    change({ q: typed.trim(), as: null });
  };
  return (
    <PageFrame
      title="Find a match"
      answer={answerOf(searched, found, environment, text)}
      error={error}
      loading={false}
    >
      <form role="search" class="seek" onSubmit={send}>
        <input
          class="in lead"
          type="search"
          name="q"
          aria-label="Match, seat, player, your reference or idempotency key"
          placeholder="mat_…, sea_…, player, order number"
          maxLength={200}
          value={typed}
          data-search
          onInput={(event) => type(event.currentTarget.value)}
        />
        <Button kind="pri" icon="find">
          Find
        </Button>
      </form>
      {text === '' && <Latest {...{ api, environment }} />}
      {searched !== null && found === null && (
        <Nothing searched={searched} environment={environment} />
      )}
      {searched !== null && found !== null && (
        <Matches {...{ searched, found, environment }} onKind={(kind) => change({ as: kind })} />
      )}
    </PageFrame>
  );
}

function answerOf(
  searched: Searched | null,
  found: Found | null,
  environment: Environment,
  text: string,
) {
  if (text === '') {
    return 'Paste what the player or your log gives you: an id, a player or your reference.';
  }
  if (searched === null) return 'Looking …';
  if (found === null) {
    return searched.there.length > 0
      ? `Nothing by that name in ${environment}, but there is in ${otherOf(environment)}.`
      : `Nothing by that name, neither in test nor in live.`;
  }
  const number = found.hasMore ? `more than ${SHOWN} matches` : countMatches(found);
  const latest = found.matches[0]?.endedAt ?? found.matches[0]?.startedAt;
  const ago = latest === undefined ? '' : `, the latest ${agoOf(latest)}`;
  return (
    <strong>
      {searched.text} has {number} in {environment}
      {ago}.
    </strong>
  );
}

/** The latest matches, which are shown until a search. */
function Latest({ api, environment }: Pick<PageProps, 'api' | 'environment'>) {
  const path = `matches?environment=${environment}`;
  const { entries, whole, error, more, readAgain } = useList<Match>(
    api,
    path,
    'matches',
    false,
    LATEST,
  );
  const atBegin = entries === null || entries.length <= LATEST;
  useEffect(() => {
    if (!atBegin) return; // a list that was read further is not cut short
    const again = () => void readAgain();
    addEventListener(READ_AGAIN, again);
    return () => removeEventListener(READ_AGAIN, again);
  }, [atBegin, readAgain]);
  if (error !== null) return <Problem error={error} />;
  if (entries === null) return null;
  if (entries.length === 0) return <Teaching />;
  const foot = whole ? undefined : <Button onPress={more}>Show {LATEST} more</Button>;
  return (
    <Card flush title="Latest matches" foot={foot}>
      <Table
        label="Latest matches"
        columns={matchColumns(environment, null)}
        rows={entries}
        keyOf={({ matchId }) => matchId}
      />
    </Card>
  );
}

function Teaching() {
  return (
    <Card flush>
      <Empty icon="find" title="What happened to my money?">
        That is what players ask. The page of a match tells it in order: who was seated when, what
        was charged, why these two were paired, every move, the end, what was paid, and whether your
        server heard of it.
      </Empty>
    </Card>
  );
}

function Nothing({ searched, environment }: { searched: Searched; environment: Environment }) {
  const other = otherOf(environment);
  const match = searched.there[0]?.matches[0];
  if (match === undefined) {
    return (
      <Note>
        A seat that still waits for an opponent is in no match yet. Look at its status with{' '}
        <code>GET /partner/seats/{'{seat_id}'}</code>. Ids are told apart by upper and lower case.
      </Note>
    );
  }
  const there = `${linkTo(other, 'find')}?q=${encodeURIComponent(searched.text)}`;
  return (
    <Note tone={other}>
      Found in <strong>{other}</strong>:{' '}
      <a href={there}>{countMatches(searched.there[0]!)}</a>, the latest
      of {timeOf(match.endedAt ?? match.startedAt, 'now')}.
    </Note>
  );
}

interface MatchesProps {
  searched: Searched;
  found: Found;
  environment: Environment;
  onKind(kind: Kind): void;
}

function Matches({ searched, found, environment, onKind }: MatchesProps) {
  const nameOf = (kind: Kind) => KINDS.find(([name]) => name === kind)?.[1] ?? kind;
  const others = searched.here.filter((other) => other !== found);
  const player = found.kind === 'playerId' ? searched.text : null;
  return (
    <>
      <p class="small quiet">
        Taken for <strong>{nameOf(found.kind)}</strong>.{' '}
        {others.map((other) => (
          <button key={other.kind} type="button" class="btn sm" onClick={() => onKind(other.kind)}>
            Look for it as {nameOf(other.kind)}: {countMatches(other)}
          </button>
        ))}
      </p>
      <Card flush>
        <Table
          label="Matches"
          columns={matchColumns(environment, player)}
          rows={found.matches}
          keyOf={(match) => match.matchId}
        />
      </Card>
    </>
  );
}
