import { useEffect, useState } from 'preact/hooks';
import { useQuery } from '../address';
import { Refused } from '../api';
import type { Api, Environment } from '../api';
import { PageFrame } from '../page';
import type { PageProps } from '../page';
import { FINAL_AFTER_MIN } from '../parts/bounds';
import { LinkButton } from '../parts/button';
import { isDay, latestFinal, shortDay } from '../parts/days';
import { dollars, many } from '../parts/format';
import { Empty } from '../parts/note';
import { linkTo } from '../routes';
import { before, firstRange, rangeSays } from '../words/usage';
import type { Range, SeatSummary, Usage } from '../words/usage';
import { ByDay, KeepDays } from './usage-days';
import { RangeLine, RANGE_REFUSALS, WrongRange } from './usage-range';
import { ByTier, KeepTiers } from './usage-tiers';

export type View = 'day' | 'tier';
export type Change = (changes: Record<string, string | null>) => void;

interface Figures {
  latest: string;
  range: Range;
  usage: Usage | null;
  earlier: Usage | null;
  seats: SeatSummary | null;
}

const asked = ({ from, to }: Range) => `from=${from}&to=${to}`;

async function readRange(
  api: Api,
  environment: Environment,
  view: View,
  range: Range,
): Promise<Figures> {
  if (view === 'tier') {
    const seats = await api.read<SeatSummary>(`seat-summary/${environment}?${asked(range)}`);
    return { latest: seats.latestDay, range, usage: null, earlier: null, seats };
  }
  const [usage, earlier] = await Promise.all([
    api.read<Usage>(`usage/${environment}?${asked(range)}`),
    api.read<Usage>(`usage/${environment}?${asked(before(range))}`),
  ]);
  return { latest: usage.latestDay, range, usage, earlier, seats: null };
}

/** Reads the range that is wanted. Without one: the days up to the latest final one. */
async function readFigures(
  api: Api,
  environment: Environment,
  view: View,
  wanted: Range | null,
): Promise<Figures> {
  try {
    const range = wanted ?? firstRange(latestFinal());
    return await readRange(api, environment, view, range);
  } catch (error) {
    const latest = error instanceof Refused ? error.told.latestDay : undefined;
    if (wanted !== null || typeof latest !== 'string') throw error;
    return readRange(api, environment, view, firstRange(latest));
  }
}

function rangeOf(query: URLSearchParams): Range | null {
  const [from, to] = [query.get('from') ?? '', query.get('to') ?? ''];
  return isDay(from) && isDay(to) ? { from, to } : null;
}

function useFigures(api: Api, environment: Environment, view: View, wanted: Range | null) {
  const [found, setFound] = useState<Figures | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    let current = true;
    readFigures(api, environment, view, wanted).then(
      (figures) => {
        if (!current) return;
        setFound(figures);
        setError(null);
      },
      (failed: unknown) => current && setError(failed),
    );
    return () => {
      current = false;
    };
  }, [api, environment, view, wanted?.from, wanted?.to]);
  return { found, error };
}

const isNothing = ({ usage, seats }: Figures) =>
  usage !== null ? usage.totals.seats === 0 : seats?.totals.seats === 0;

function SeatsAnswer({ seats: { totals } }: { seats: SeatSummary }) {
  return (
    <>
      <strong>{many(totals.seats, 'seat was', 'seats were')} paid.</strong> Each stake went out
      again as payout, refund or rake.
    </>
  );
}

function DaysAnswer({ usage }: { usage: Usage }) {
  const { totals, latestDay } = usage;
  return (
    <>
      <strong>
        {many(totals.matches, 'match', 'matches')} and {dollars(totals.rakeUsdCents)} of rake{' '}
        in {rangeSays(usage)}.
      </strong>{' '}
      Days in UTC are final up to {shortDay(latestDay)}.
    </>
  );
}

interface AnswerProps {
  found: Figures | null;
  refused: Refused | null;
  nothing: boolean;
  environment: Environment;
}

function Answer({ found, refused, nothing, environment }: AnswerProps) {
  if (refused !== null) return <strong>That range cannot be shown.</strong>;
  if (nothing) return <>No final day in {environment} has a match yet.</>;
  if (found?.seats) return <SeatsAnswer seats={found.seats} />;
  if (found?.usage) return <DaysAnswer usage={found.usage} />;
  return null;
}

export default function UsagePage({ api, environment }: PageProps) {
  const [query, change] = useQuery();
  const view: View = query.get('by') === 'tier' ? 'tier' : 'day';
  const wanted = rangeOf(query);
  const { found, error } = useFigures(api, environment, view, wanted);
  const refused = error instanceof Refused && error.reason in RANGE_REFUSALS ? error : null;
  const nothing = found !== null && wanted === null && isNothing(found);
  const shown = refused === null && !nothing ? found : null;
  const acts = shown?.usage ? (
    <KeepDays usage={shown.usage} />
  ) : (
    shown?.seats && <KeepTiers seats={shown.seats} />
  );
  return (
    <PageFrame
      title="Usage"
      answer={<Answer {...{ found, refused, nothing, environment }} />}
      acts={acts ?? undefined}
      error={refused === null ? error : null}
      loading={found === null && refused === null}
    >
      {nothing && error === null ? (
        <Teach environment={environment} />
      ) : (
        <RangeLine
          view={view}
          range={wanted ?? found?.range ?? null}
          latest={found?.latest ?? null}
          wrong={refused !== null}
          change={change}
        />
      )}
      {refused !== null && <WrongRange refused={refused} range={wanted} change={change} />}
      {shown?.usage && (
        <ByDay usage={shown.usage} earlier={shown.earlier} query={query} change={change} />
      )}
      {shown?.seats && <ByTier seats={shown.seats} />}
    </PageFrame>
  );
}

function Teach({ environment }: { environment: Environment }) {
  const acts =
    environment === 'test' ? (
      <LinkButton kind="pri" href={linkTo('test', 'try')}>
        Play a test match
      </LinkButton>
    ) : undefined;
  return (
    <section class="card">
      <Empty icon="chart" title="Numbers begin with the first decided match" acts={acts}>
        A day is shown once it is final: {FINAL_AFTER_MIN} minutes after midnight UTC, when all
        its money is recorded.
        {environment === 'test' ? ' Play one now, and see it tomorrow.' : ''}
      </Empty>
    </section>
  );
}
