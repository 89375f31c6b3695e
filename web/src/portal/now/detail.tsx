/** Shows one event of "Calls now". If a call was refused, also says why and what to do. */

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Environment } from '../api';
import type { NameOf } from '../catalog';
import { LinkButton } from '../parts/button';
import { Card } from '../parts/card';
import { Code, Id } from '../parts/copy';
import { clockOf } from '../parts/format';
import { linkTo } from '../routes';
import { bodyFor, curlOf } from './curl';
import type { LiveEvent } from './live';
import { docOf, helpOf, readAdvice, wordsOfReason } from './refusals';
import type { Advice } from './refusals';
import { isRefused, wordsOf } from './rows';

/** A sentence whose names stand between backticks. */
export function Told({ text }: { text: string }) {
  return (
    <>
      {text.split('`').map((part, index) => (index % 2 === 0 ? part : <code>{part}</code>))}
    </>
  );
}

function useAdvice(reason: string | undefined): Advice | null {
  const [advice, set] = useState<Advice | null>(null);
  useEffect(() => {
    set(null);
    if (reason === undefined) return;
    let current = true; // the list may come when another refusal is shown already
    // Without the guide's list, the page still shows the answer of the call.
    readAdvice().then(
      (all) => current && set(all.get(reason) ?? null),
      () => {},
    );
    return () => {
      current = false;
    };
  }, [reason]);
  return advice;
}

interface EventProps {
  event: LiveEvent;
  environment: Environment;
}

interface DetailProps extends EventProps {
  /** The names of games and tiers. */
  nameOf: NameOf;
}

export function Detail({ event, environment, nameOf }: DetailProps) {
  const refused = isRefused(event);
  const title = refused ? `Refused: ${titleOf(event)}` : wordsOf(event, nameOf).title;
  return (
    <Card title={title}>
      {refused && <Why event={event} environment={environment} />}
      {event.kind === 'call' && <CallDetail {...{ event, environment, refused }} />}
      {'matchId' in event && event.matchId !== null && (
        <div>
          <LinkButton href={linkTo(environment, 'matches', event.matchId)} icon="find">
            See the match
          </LinkButton>
        </div>
      )}
      {event.kind === 'nudge' && !event.delivered && (
        <p>
          No server accepted the nudge. No result is lost. The answer is in{' '}
          <a href={linkTo(environment, 'webhooks')}>the attempts</a>.
        </p>
      )}
      {event.kind === 'lost' && (
        <p>They came faster than this page could read. They are in the feed and in each match.</p>
      )}
      {event.kind === 'away' && (
        <p>
          What was called in that time is not listed. Its matches are in{' '}
          <a href={linkTo(environment, 'find')}>Find a match</a>.
        </p>
      )}
      <Facts event={event} nameOf={nameOf} />
    </Card>
  );
}

function titleOf(event: LiveEvent): string {
  const reason = 'reason' in event ? event.reason : undefined;
  return reason === undefined ? 'a malformed call' : wordsOfReason(reason);
}

function Why({ event, environment }: EventProps) {
  const reason = 'reason' in event ? event.reason : undefined;
  const advice = useAdvice(reason);
  const help = helpOf(environment, reason);
  const said = (event.kind === 'call' && event.error) || advice?.message;
  return (
    <>
      {said && (
        <p>
          <strong>
            <Told text={said} />
          </strong>
        </p>
      )}
      {advice !== null && (
        <p>
          <Told text={advice.advice} />
        </p>
      )}
      {reason === undefined && (
        <p>Correct this and send the call again. Repeating it unchanged does not help.</p>
      )}
      <div class="row">
        {help !== null && (
          <LinkButton kind="pri" small href={help.href}>
            {help.act}
          </LinkButton>
        )}
        {reason !== undefined && (
          <a class="btn sm mono" href={docOf(reason)} target="_blank" rel="noreferrer">
            {reason}
          </a>
        )}
      </div>
    </>
  );
}

interface CallProps extends EventProps {
  event: LiveEvent & { kind: 'call' };
  refused: boolean;
}

function CallDetail({ event, environment, refused }: CallProps) {
  const sample = bodyFor(event.method, event.path);
  const body = sample && { ...sample, ...event.corrected };
  const note = event.corrected
    ? 'Game, tier and stake are right. Put your own player and idempotency key in.'
    : 'Put your own values in: what was sent is not kept anywhere.';
  return (
    <details open={refused}>
      <summary>{refused ? 'Call it again, corrected' : 'Call it again'}</summary>
      <Code
        label="Call as curl"
        text={curlOf(environment, event.method, event.path, body)}
      />
      {body !== undefined && <p class="small quiet">{note}</p>}
    </details>
  );
}

function Facts({ event, nameOf }: Pick<DetailProps, 'event' | 'nameOf'>) {
  const facts: [string, ComponentChildren][] = [['When, UTC', clockOf(event.at)]];
  const idOf = (noun: string, id: string) => <Id id={id} what={`the ${noun} id`} />;
  if (event.kind === 'call') {
    facts.push(['Request', idOf('request', event.requestId)], ['Key', `…${event.last4}`]);
    facts.push(['Took', `${event.durationMs} ms`]);
  }
  if (event.kind === 'seat') {
    facts.push(['Seat', idOf('seat', event.seatId)], ['Game', nameOf(event.gameId)]);
  }
  if ('matchId' in event && event.matchId !== null) {
    facts.push(['Match', idOf('match', event.matchId)]);
  }
  return (
    <dl class="kv dense">
      {facts.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd class="mono">{value}</dd>
        </>
      ))}
    </dl>
  );
}
