/** The status, days, game and tier of the matches that are shown. The address has them. */

import type { ComponentChildren } from 'preact';
import { Button } from '../parts/button';
import { DAYS_MAX } from '../parts/bounds';
import { daysIn, isDay, plusDays } from '../parts/days';
import { Choice, Day, Pick } from '../parts/filters';
import { Empty, Note } from '../parts/note';

const STATUSES = [
  ['', 'All'],
  ['started', 'Running'],
  ['ended', 'Decided'],
  ['no_contest', 'No contest'],
] as const;

type Status = (typeof STATUSES)[number][0];

export interface Filters {
  status: Status;
  from: string;
  to: string;
  game: string;
  tier: string;
  /** The filters as the query of a call has them; empty without a filter. */
  asked: string;
  /** Why the service would refuse the days, or nothing. */
  wrong: string;
}

const dayOf = (text: string | null) => (text !== null && isDay(text) ? text : '');

/**
 * Returns the filters of an address. If only one day is given, the range starts or ends on that day
 * and has as many days as are allowed.
 */
export function filtersOf(query: URLSearchParams): Filters {
  const status = STATUSES.find(([name]) => name === query.get('status'))?.[0] ?? '';
  const [from, to] = [dayOf(query.get('from')), dayOf(query.get('to'))];
  const [game, tier] = [query.get('game') ?? '', query.get('tier') ?? ''];
  const first = from || (to && plusDays(to, 1 - DAYS_MAX));
  const last = to || (from && plusDays(from, DAYS_MAX - 1));
  const days = first === '' ? 1 : daysIn(first, last);
  const asked =
    (status === '' ? '' : `&status=${status}`) +
    (first === '' ? '' : `&from=${first}&to=${last}`) +
    (game === '' ? '' : `&gameId=${encodeURIComponent(game)}`) +
    (tier === '' ? '' : `&tierId=${encodeURIComponent(tier)}`);
  const wrong =
    days < 1
      ? 'The first day is after the last one.'
      : days > DAYS_MAX
        ? `A range has at most ${DAYS_MAX} days.`
        : '';
  return { status, from, to, game, tier, asked, wrong };
}

export type Change = (changes: Record<string, string | null>) => void;

type Choices = [string, string][];

/** The games and tiers to choose from, as value and label. */
export interface Known {
  games: Choices;
  tiers: Choices;
}

/**
 * The choices. The chosen one is added if it is missing, because a tier that was chosen earlier can
 * have been taken away.
 */
const withChosen = (all: string, choices: Choices, value: string): Choices => [
  ['', all],
  ...choices,
  ...(value === '' || choices.some(([name]) => name === value)
    ? []
    : [[value, value] as [string, string]]),
];

interface LineProps {
  filters: Filters;
  known: Known;
  change: Change;
}

export function FilterLine({ filters, known, change }: LineProps) {
  const { status, from, to, game, tier, wrong } = filters;
  return (
    <>
      <div class="filters">
        <Choice<Status>
          label="Status"
          choices={STATUSES}
          value={status}
          onChoose={(name) => change({ status: name })}
        />
        <Pick
          label="Game"
          choices={withChosen('Every game', known.games, game)}
          value={game}
          onChoose={(name) => change({ game: name })}
        />
        <Pick
          label="Tier"
          choices={withChosen('Every tier', known.tiers, tier)}
          value={tier}
          onChoose={(name) => change({ tier: name })}
        />
        <Day
          label="From"
          value={from}
          wrong={wrong !== ''}
          onChoose={(day) => change({ from: day })}
        />
        <Day label="To" value={to} wrong={wrong !== ''} onChoose={(day) => change({ to: day })} />
      </div>
      {wrong !== '' && (
        <div class="in-card">
          <Note tone="warn" alert>
            {wrong}
          </Note>
        </div>
      )}
    </>
  );
}

export function NothingFits({ change, children }: { change: Change; children: ComponentChildren }) {
  const drop = () => change({ status: null, from: null, to: null, game: null, tier: null });
  const acts = <Button onPress={drop}>Clear the filters</Button>;
  return (
    <Empty icon="find" title="Nothing matches these filters" acts={acts}>
      {children}
    </Empty>
  );
}
