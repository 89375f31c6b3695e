/** A match: its life as a timeline, its money, its board. */

import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Api, Environment } from '../api';
import { Refused } from '../api';
import { useNameOf } from '../catalog';
import { headline, isPaid, moneySaid, whyEnded } from '../match/match';
import type { Life, Match as MatchRecord } from '../match/match';
import { stampOf, storyOf, wasTold } from '../match/story';
import type { StoryStep } from '../match/story';
import { PageFrame, useKeptFresh, useReading } from '../page';
import type { PageProps } from '../page';
import { LinkButton } from '../parts/button';
import { Card } from '../parts/card';
import { Copy, Id } from '../parts/copy';
import { clockOf, dollars, fullTimeOf, timeOf } from '../parts/format';
import { Icon } from '../parts/icon';
import { Empty } from '../parts/note';
import { Full } from '../parts/time';
import { linkTo } from '../routes';

/** For how many seconds after a match has ended the page still looks for the match's nudges. */
const NUDGES_S = 60;

/** Whether a match runs, waits for its money, or may still get the nudges about its end. */
const changes = ({ match }: Life) =>
  match.endedAt === undefined || !isPaid(match) || Date.now() / 1000 - match.endedAt < NUDGES_S;

export default function Match({ api, environment, id }: PageProps) {
  const path = `matches/${encodeURIComponent(id ?? '')}?environment=${environment}`;
  const { value: life, error, readAgain } = useReading<Life>(api, path);
  const nameOf = useNameOf();
  useKeptFresh(readAgain, life !== null && changes(life));
  const unknown = error instanceof Refused && error.reason === 'match_not_found';
  if (unknown) return <Unknown {...{ api, environment, id: id ?? '' }} />;
  return (
    <>
      <Crumb environment={environment} id={id ?? ''} />
      <PageFrame
        title={life === null ? 'Match' : headline(life.match)}
        answer={life === null ? '' : <Answer life={life} />}
        error={error}
        loading={life === null}
      >
        {life !== null && (
          <div class="split">
            <section aria-label="What happened">
              <Timeline steps={storyOf(life, nameOf)} environment={environment} />
            </section>
            <Side api={api} life={life} />
          </div>
        )}
      </PageFrame>
    </>
  );
}

function Crumb({ environment, id }: { environment: Environment; id: string }) {
  return (
    <p class="crumb">
      <a href={linkTo(environment, 'find')}>Find a match</a> / <span class="mono">{id}</span>{' '}
      <Copy text={id} what="the id of the match" small />
    </p>
  );
}

function Answer({ life }: { life: Life }) {
  const { match, nudges } = life;
  const why = match.status === 'started' ? '' : `Ended: ${whyEnded(match)}. `;
  const told = wasTold(nudges);
  const when = match.endedAt === undefined || !isPaid(match) ? '' : ` on ${timeOf(match.endedAt)}`;
  return (
    <>
      <strong>
        {why}
        {moneySaid(match)}
        {when}.
      </strong>{' '}
      {told === null
        ? 'No nudge was sent: your server learns of it when it polls.'
        : told
          ? 'Your server was told.'
          : 'The last nudge was not delivered.'}
    </>
  );
}

interface TimelineProps {
  steps: readonly StoryStep[];
  environment: Environment;
}

function Timeline({ steps, environment }: TimelineProps) {
  let since = 0;
  return (
    <ol class="tl">
      {steps.map((step) => {
        if (step.phase && step.at !== null) since = step.at;
        return <Step key={step.key} {...{ step, since, environment }} />;
      })}
    </ol>
  );
}

interface StepProps {
  step: StoryStep;
  since: number;
  environment: Environment;
}

function Step({ step, since, environment }: StepProps) {
  const { at, phase, icon, tone, title, says, id, more, attemptId } = step;
  const stamp =
    at === null ? 'since then' : phase ? clockOf(Math.floor(at)) : stampOf(since, at);
  return (
    <li data-step={step.key}>
      {at === null ? (
        <time>{stamp}</time>
      ) : (
        <time dateTime={new Date(at * 1000).toISOString()} title={fullTimeOf(at)}>
          {stamp}
        </time>
      )}
      <span class={tone === undefined ? 'k' : `k is-${tone}`}>
        <Icon name={icon} />
      </span>
      <div>
        <h2>{title}</h2>
        <p>
          {says}
          {id !== undefined && (
            <>
              <br />
              <Id id={id} what="the id of the seat" />
            </>
          )}{' '}
          {attemptId !== undefined && (
            <a href={`${linkTo(environment, 'webhooks')}?open=${attemptId}`}>
              What was sent and answered
            </a>
          )}
        </p>
        {more !== undefined && (
          <details>
            <summary>{more.name}</summary>
            <p class="mono">{more.text}</p>
          </details>
        )}
      </div>
    </li>
  );
}

function Side({ api, life }: { api: Api; life: Life }) {
  const { match } = life;
  const nameOf = useNameOf();
  return (
    <div class="stack">
      {match.seats.length === 2 && (
        <Card title="Board" aside={<span class="small quiet">{nameOf(match.gameId)}</span>}>
          <LazyBoard key={String(life.moves.length)} api={api} match={match} />
        </Card>
      )}
      <Card title="Money">
        <dl class="kv dense">
          {match.seats.map((seat) => (
            <Row
              key={seat.seatId}
              name={<a href={matchesOf(match, seat.playerId)}>{seat.playerId}</a>}
            >
              paid {dollars(seat.stakeUsdCents)},{' '}
              {seat.payoutUsdCents === undefined
                ? 'gets what the end brings'
                : `got ${dollars(seat.payoutUsdCents + (seat.refundUsdCents ?? 0))}`}
            </Row>
          ))}
          <Row name="Rake">{rakeOf(match)}</Row>
        </dl>
      </Card>
      <Details match={match} />
      <Card title="What you can tell a player">
        <p>{forPlayer(match)}</p>
        <div>
          <Copy text={forPlayer(match)} what="the text for a player" />
        </div>
      </Card>
    </div>
  );
}

/** Where the matches of a player are listed. */
const matchesOf = ({ environment }: MatchRecord, playerId: string) =>
  `${linkTo(environment, 'find')}?q=${encodeURIComponent(playerId)}`;

function Details({ match }: { match: MatchRecord }) {
  const { gameId, tierId, prizeUsdCents, startedAt, endedAt } = match;
  const nameOf = useNameOf();
  const notYet = endedAt === undefined ? 'not yet' : 'never';
  return (
    <Card title="Details">
      <dl class="kv dense">
        <Row name="Game">{nameOf(gameId)}</Row>
        <Row name="Tier">
          {nameOf(tierId)}, prize {dollars(prizeUsdCents)}
        </Row>
        <Row name="Started">{startedAt === undefined ? notYet : <Full at={startedAt} />}</Row>
        <Row name="Ended">{endedAt === undefined ? 'not yet' : <Full at={endedAt} />}</Row>
      </dl>
    </Card>
  );
}

interface RowProps {
  name: ComponentChildren;
  children: ComponentChildren;
}

function Row({ name, children }: RowProps) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function rakeOf(match: MatchRecord): string {
  if (match.seats.some((seat) => seat.rakeUsdCents === undefined)) return 'not recorded yet';
  return dollars(match.seats.reduce((sum, seat) => sum + (seat.rakeUsdCents ?? 0), 0));
}

function forPlayer(match: MatchRecord): string {
  if (match.status === 'started') return `${headline(match)}. ${moneySaid(match)}.`;
  const why =
    match.endReason === 'cancelled' ? 'the seat was taken back' : whyEnded(match);
  const when = isPaid(match) ? `, ${timeOf(match.endedAt)}` : '';
  return `${headline(match)}: ${why}. ${moneySaid(match)}${when}.`;
}

type BoardType = ComponentType<{ api: Api; match: MatchRecord }>;

/** The board and its drawings are loaded once the page is shown. */
function LazyBoard({ api, match }: { api: Api; match: MatchRecord }) {
  const [Board, set] = useState<BoardType | null>(null);
  useEffect(() => {
    void import('../match/board').then((module) => set(() => module.default));
  }, []);
  return Board === null ? <span class="sk" /> : <Board api={api} match={match} />;
}

interface UnknownProps {
  api: Api;
  environment: Environment;
  id: string;
}

/** Says that no match here has this id. The other environment may have it. */
function Unknown({ api, environment, id }: UnknownProps) {
  const other = environment === 'test' ? 'live' : 'test';
  const [there, set] = useState(false);
  useEffect(() => {
    const path = `matches/${encodeURIComponent(id)}?environment=${other}`;
    api.read(path).then(
      () => set(true),
      () => set(false),
    );
  }, [api, id, other]);
  return (
    <>
      <Crumb environment={environment} id={id} />
      <PageFrame
        title="No such match"
        answer={there ? `It is a match of ${other}.` : `Nothing in ${environment} has this id.`}
        error={null}
        loading={false}
      >
        <Card flush>
          <Empty
            icon="find"
            title={there ? `Found in ${other}` : 'Look for it another way'}
            acts={
              there ? (
                <LinkButton kind="pri" href={linkTo(other, 'matches', id)}>
                  Show it in {other}
                </LinkButton>
              ) : (
                <LinkButton kind="pri" href={linkTo(environment, 'find')}>
                  Find a match
                </LinkButton>
              )
            }
          >
            Test and live never mix. A match is also found by its player, by a seat or by your own
            reference.
          </Empty>
        </Card>
      </PageFrame>
    </>
  );
}
