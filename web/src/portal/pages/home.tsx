import type { Environment, OpenPlay } from '../api';
import { useChanges } from '../changes';
import { matchColumns } from '../match/columns';
import { PageFrame, Problem, mayWrite, useAct } from '../page';
import type { PageProps } from '../page';
import { LinkButton } from '../parts/button';
import { Card } from '../parts/card';
import { Checklist } from '../parts/checklist';
import type { Step } from '../parts/checklist';
import { clockOf } from '../parts/format';
import { Icon } from '../parts/icon';
import { Tag } from '../parts/note';
import { Table } from '../parts/table';
import { Ago } from '../parts/time';
import { useStanding } from '../readiness';
import type { Game, Standing } from '../readiness';
import { linkTo } from '../routes';
import { stepsOf } from '../steps';
import { LastDays, useDays } from './home-days';

interface AnswerProps {
  needed: Step[];
  advised: Step[];
  environment: Environment;
}

interface HomeAnswerProps extends AnswerProps {
  /** Nudges in a row that failed. */
  failures: number;
  /** Whether the account is on. */
  active: boolean;
}

const NUMBERS = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight'];

const inWords = (count: number, noun: string) =>
  `${NUMBERS[count] ?? count} ${noun}${count === 1 ? '' : 's'}`;

/** What is missing before a match, and who has to act next. */
function Answer({ needed, advised, environment, failures, active }: HomeAnswerProps) {
  if (!active) {
    return (
      <strong>
        The account is switched off: no key works and nobody can play, in test or in live.
      </strong>
    );
  }
  const open = needed.filter((step) => !step.done);
  const waits = open.filter((step) => step.waits).length;
  const yours = open.length - waits;
  const worth = advised.filter((step) => !step.done).length;
  const more =
    worth === 0
      ? ''
      : ` ${NUMBERS[worth] ?? worth} more ${worth === 1 ? 'step is' : 'steps are'} worth taking ` +
        'before your site embeds the frame.';
  if (open.length === 0) {
    return (
      <>
        <strong>
          Everything is set up in {environment}
          {failures > 0 && ', but nudges fail'}.
        </strong>
        {more}
      </>
    );
  }
  if (waits > 0) {
    return (
      <>
        <strong>
          Not yet in {environment}: {inWords(yours, 'step').toLowerCase()}{' '}
          {yours === 1 ? 'is' : 'are'} yours, {inWords(waits, 'step').toLowerCase()}{' '}
          {waits === 1 ? 'is' : 'are'} the platform’s.
        </strong>
        {more}
      </>
    );
  }
  return (
    <>
      <strong>
        {inWords(yours, 'step')} {yours === 1 ? 'is' : 'are'} left before your first{' '}
        {environment} match.
      </strong>
      {more}
    </>
  );
}

/** The latest matches, as on the page that lists all. */
function Latest({ standing, environment }: Pick<StatsProps, 'standing' | 'environment'>) {
  return (
    <Card
      flush
      title="Latest matches"
      aside={<a href={linkTo(environment, 'find')}>All matches</a>}
    >
      <Table
        label="Latest matches"
        columns={matchColumns(environment, null, true)}
        rows={standing.matches}
        keyOf={({ matchId }) => matchId}
      />
    </Card>
  );
}

function Ring({ done, all }: { done: number; all: number }) {
  return (
    <div class="ring" style={{ '--v': Math.round((100 * done) / all) }}>
      {done === all && <Icon name="check" />}
    </div>
  );
}

interface StatsProps {
  open: OpenPlay;
  active: boolean;
  standing: Standing;
  environment: Environment;
}

function Stats({ open, active, standing, environment }: StatsProps) {
  const webhook = standing.readiness?.gates.find(({ gate }) => gate === 'webhook_on');
  return (
    <div class="stats">
      <a href={linkTo(environment, 'seats')}>
        <span>Seats waiting</span>
        <b>{open.waitingSeats}</b>
      </a>
      <a href={linkTo(environment, 'find')}>
        <span>Matches running</span>
        <b>{open.runningMatches}</b>
      </a>
      <a href={linkTo(environment, 'keys')}>
        <span>Keys that work</span>
        <b>{active ? standing.keys : 0}</b>
      </a>
      <a href={linkTo(environment, 'webhooks')}>
        <span>Webhook</span>
        <b>{!webhook?.ok ? 'off' : standing.failures > 0 ? 'fails' : 'on'}</b>
      </a>
    </div>
  );
}

interface StepsProps extends AnswerProps {
  /** When the page was read. */
  at: number | null;
}

/** The steps to a match. Once all are done they are folded, because nobody has to act on them. */
function Steps({ needed, advised, environment, at }: StepsProps) {
  const done = needed.filter((step) => step.done).length;
  const all = done === needed.length;
  const title = environment === 'test' ? 'Before your first test match' : 'Before you go live';
  const head = (
    <>
      <Ring done={done} all={needed.length} />
      <h2>{all ? `Ready in ${environment}` : title}</h2>
      <Tag tone={environment}>{environment}</Tag>
      <span class="small quiet">
        {done} of {needed.length} done · checked at {clockOf(at ?? 0)} UTC
      </span>
    </>
  );
  const worth = (
    <Card
      flush
      title="Worth doing before you embed"
      aside={<span class="small quiet">Optional</span>}
    >
      <Checklist steps={advised} calm />
    </Card>
  );
  if (all) {
    return (
      <>
        {advised.some((step) => !step.done) && worth}
        <details class="card folded">
          <summary>{head}</summary>
          <Checklist steps={[...needed, ...advised.filter((step) => step.done)]} />
        </details>
      </>
    );
  }
  return (
    <>
      <section class="card">
        <header>{head}</header>
        <Checklist steps={needed} />
      </section>
      {worth}
    </>
  );
}

interface LatelyProps extends Pick<PageProps, 'api' | 'environment'> {
  /** When the page was read. */
  at: number | null;
}

function Lately({ api, environment, at }: LatelyProps) {
  const changes = useChanges(api, 5, at);
  if (changes === null || changes.length === 0) return null;
  return (
    <Card
      flush
      title="Latest changes"
      aside={<a href={linkTo(environment, 'events')}>Event log</a>}
    >
      <ul class="lately">
        {changes.map((change, index) => (
          <li key={index}>
            <strong>{change.who}</strong> {change.what}{' '}
            <span class="quiet">
              <Ago at={change.at} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

export default function Home({ api, account, environment, tell }: PageProps) {
  const { value: standing, at, error, readAgain } = useStanding(api, environment);
  const { value: usage, error: daysError } = useDays(api, environment);
  const doing = useAct(readAgain);
  const turnOn = (game: Game) =>
    void doing.act(async () => {
      await api.write(`turn ${game.name} on in test`, 'POST', `games/${game.gameId}/test`);
      tell(`${game.name} is on in test.`);
    });
  const steps =
    standing === null
      ? { needed: [], advised: [] }
      : stepsOf({ account, environment, standing, busy: doing.busy, turnOn });
  const played = standing !== null && standing.matches.length > 0;
  const tries = environment === 'test' && mayWrite(account) && standing?.readiness?.ready;
  return (
    <PageFrame
      title="Home"
      answer={
        <Answer
          {...steps}
          {...{ environment }}
          active={account.active}
          failures={standing?.failures ?? 0}
        />
      }
      acts={
        tries && (
          <LinkButton href={linkTo('test', 'try')} icon="play">
            Try it
          </LinkButton>
        )
      }
      error={error}
      loading={standing === null || (usage === null && daysError === null)}
    >
      <Problem error={doing.error ?? daysError} />
      {played && (
        <Stats
          open={account.open[environment]}
          active={account.active}
          {...{ standing, environment }}
        />
      )}
      {played && <Latest {...{ standing, environment }} />}
      {usage !== null && usage.totals.matches > 0 && <LastDays {...{ usage, environment }} />}
      <Steps {...steps} {...{ environment, at }} />
      {played && <Lately {...{ api, environment, at }} />}
    </PageFrame>
  );
}
