/** Looking for a match by whatever a player or a log gives: any id, a player, a reference. */

import { useEffect, useState } from 'preact/hooks';
import { go, useQuery } from '../address';
import type { Environment } from '../api';
import { PageFrame, Problem, useReading, useReadWithAll } from '../page';
import type { PageProps } from '../page';
import { Button } from '../parts/button';
import { Card } from '../parts/card';
import { agoOf, timeOf } from '../parts/format';
import { useList } from '../parts/list';
import { matchColumns } from '../match/columns';
import type { Match } from '../match/match';
import { WaitingSeats } from '../match/waiting';
import { Empty, Note } from '../parts/note';
import { Table } from '../parts/table';
import { linkTo } from '../routes';
import { FilterLine, filtersOf, NothingFits } from './find-filters';
import type { Change, Filters, Known } from './find-filters';
import { KeepMatches } from './find-keep';
import { countOfFound, KINDS, otherOf, useSearch } from './find-search';
import type { Found, Kind, Searched } from './find-search';

/** How many matches are listed before a search, and how many a press adds. */
const LATEST = 20;

/** The games and tiers to choose from. There are none until they are read. */
function useKnown(api: PageProps['api'], environment: Environment): Known {
  const games = useReading<{ games: { gameId: string; name: string }[] }>(api, 'games?limit=500');
  const tiers = useReading<{ tiers: { tierId: string; name: string }[] }>(
    api,
    `tiers?environment=${environment}`,
  );
  return {
    games: (games.value?.games ?? []).map(({ gameId, name }) => [gameId, name]),
    tiers: (tiers.value?.tiers ?? []).map(({ tierId, name }) => [tierId, name]),
  };
}

export default function FindAMatch({ api, environment, tell }: PageProps) {
  const [query, change] = useQuery();
  const text = query.get('q') ?? '';
  const [typed, type] = useState(text);
  useEffect(() => type(text), [text]);
  const filters = filtersOf(query);
  const known = useKnown(api, environment);
  const line = { filters, known, change };
  const wanted = { environment, text: filters.wrong === '' ? text : '', filters: filters.asked };
  const { searched, error } = useSearch(api, wanted);
  const asked = searched?.here.find((found) => found.kind === query.get('as'));
  const found = asked ?? searched?.here[0] ?? null;
  const only = found && pageOf(found, environment);
  useEffect(() => {
    if (only !== null) go(only, true);
  }, [only]);
  const send = (event: Event) => {
    event.preventDefault();
    change({ q: typed.trim(), as: null }, typed.trim() !== text);
  };
  return (
    <PageFrame
      title="Find a match"
      answer={answerOf(searched, found, environment, text, filters)}
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
      {text === '' && <Latest {...{ api, environment, tell, ...line }} />}
      {text !== '' && filters.wrong !== '' && (
        <Card flush>
          <FilterLine {...line} />
        </Card>
      )}
      {searched !== null && found === null && (
        <Nothing {...{ searched, environment, ...line }} />
      )}
      {searched !== null && found !== null && (
        <Matches {...{ api, searched, found, environment, tell, ...line }} />
      )}
    </PageFrame>
  );
}

/** The page that shows what an id has found; null for a list. */
function pageOf({ kind, matches, seats }: Found, environment: Environment): string | null {
  if (kind !== 'matchId' && kind !== 'seatId') return null;
  const matchId = kind === 'matchId' ? matches[0]?.matchId : seats[0]?.matchId;
  return matchId
    ? linkTo(environment, 'matches', matchId)
    : linkTo(environment, 'seats', seats[0]?.seatId);
}

function answerOf(
  searched: Searched | null,
  found: Found | null,
  environment: Environment,
  text: string,
  filters: Filters,
) {
  if (text === '') {
    return 'Paste what the player or your log gives you: an id, a player or your reference.';
  }
  if (filters.wrong !== '') return filters.wrong;
  if (searched === null) return 'Looking …';
  if (found === null && filters.asked !== '') {
    return `Nothing by that name in ${environment} matches these filters.`;
  }
  if (found === null) {
    return searched.there.length > 0
      ? `Nothing by that name in ${environment}, but there is in ${otherOf(environment)}.`
      : `Nothing by that name, neither in test nor in live.`;
  }
  const latest = found.matches[0]?.endedAt ?? found.matches[0]?.startedAt;
  const ago = latest === undefined ? '' : `, the latest ${agoOf(latest)}`;
  return (
    <strong>
      {searched.text} has {countOfFound(found)} in {environment}
      {ago}.
    </strong>
  );
}

interface Filtered {
  filters: Filters;
  known: Known;
  change: Change;
}

/** The latest matches that fit the filters, which are shown until a search. */
function Latest({
  api,
  environment,
  tell,
  ...line
}: Pick<PageProps, 'api' | 'environment' | 'tell'> & Filtered) {
  const { filters, change } = line;
  const asked = filters.wrong === '' ? filters.asked : '';
  const path = `matches?environment=${environment}${asked}`;
  const { entries, whole, error, more, readAgain } = useList<Match>(
    api,
    path,
    'matches',
    false,
    LATEST,
  );
  const atBegin = entries === null || entries.length <= LATEST;
  useReadWithAll(readAgain, atBegin); // a list that was read further is not cut short
  if (error !== null) return <Problem error={error} again />;
  const isFiltered = filters.asked !== '';
  if (entries === null && !isFiltered) return null;
  if (entries?.length === 0 && !isFiltered) return <Teaching />;
  const isShown = entries !== null && filters.wrong === '';
  const found = isShown ? entries.length : 0;
  const next = found === 0 ? 'Look further back' : `Show ${LATEST} more`;
  return (
    <Card
      flush
      title="Latest matches"
      aside={found > 0 && <KeepMatches {...{ api, path, tell }} name={`matches-${environment}`} />}
      foot={whole || !isShown ? undefined : <Button onPress={more}>{next}</Button>}
    >
      <FilterLine {...line} />
      {isShown && found === 0 && !whole && (
        <p class="in-card quiet" role="status">
          None of the newest matches is like that. An older one may be.
        </p>
      )}
      {isShown && found === 0 && whole && (
        <NothingFits change={change}>No match in {environment} is like that.</NothingFits>
      )}
      {isShown && found > 0 && (
        <Table
          label="Latest matches"
          columns={matchColumns(environment, null)}
          rows={entries}
          keyOf={({ matchId }) => matchId}
        />
      )}
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

interface NothingProps extends Filtered {
  searched: Searched;
  environment: Environment;
}

function Nothing({ searched, environment, ...line }: NothingProps) {
  const { filters, change } = line;
  if (filters.asked !== '') {
    return (
      <Card flush>
        <FilterLine {...line} />
        <NothingFits change={change}>
          Without them, {searched.text} is looked for in all matches, test and live.
        </NothingFits>
      </Card>
    );
  }
  const other = otherOf(environment);
  const found = searched.there[0];
  if (found === undefined) {
    return (
      <Note>
        Seats that wait for an opponent were looked at, too. Upper and lower case count.
      </Note>
    );
  }
  const match = found.matches[0];
  const at = match?.endedAt ?? match?.startedAt;
  const there = `${linkTo(other, 'find')}?q=${encodeURIComponent(searched.text)}`;
  return (
    <Note tone={other}>
      Found in <strong>{other}</strong>:{' '}
      <a href={there}>{countOfFound(found)}</a>
      {at !== undefined && `, the latest match of ${timeOf(at)}`}.
    </Note>
  );
}

interface MatchesProps extends Filtered, Pick<PageProps, 'api' | 'tell'> {
  searched: Searched;
  found: Found;
  environment: Environment;
}

function Matches({ api, searched, found, environment, tell, ...line }: MatchesProps) {
  const { filters, change } = line;
  const text = encodeURIComponent(searched.text);
  const path = `matches?environment=${environment}&${found.kind}=${text}${filters.asked}`;
  const nameOf = (kind: Kind) => KINDS.find(([name]) => name === kind)?.[1] ?? kind;
  const others = searched.here.filter((other) => other !== found);
  const player = found.kind === 'playerId' ? searched.text : null;
  return (
    <>
      <p class="small quiet">
        Found as <strong>{nameOf(found.kind)}</strong>.{' '}
        {others.map((other) => (
          <button
            key={other.kind}
            type="button"
            class="btn sm"
            onClick={() => change({ as: other.kind })}
          >
            Look for it as {nameOf(other.kind)}: {countOfFound(other)}
          </button>
        ))}
      </p>
      {found.seats.length > 0 && (
        <Card flush title="Waiting seats">
          <WaitingSeats {...{ environment }} seats={found.seats} />
        </Card>
      )}
      {found.matches.length > 0 && (
        <Card
          flush
          title="Matches"
          aside={<KeepMatches {...{ api, path, tell }} name={`matches-${environment}`} />}
        >
          <FilterLine {...line} />
          <Table
            label="Matches"
            columns={matchColumns(environment, player)}
            rows={found.matches}
            keyOf={(match) => match.matchId}
          />
        </Card>
      )}
    </>
  );
}
