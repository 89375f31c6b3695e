import { useRef, useState } from 'preact/hooks';
import type { Environment } from '../api';
import { mayWrite, PageFrame, Problem, useAct, useReading } from '../page';
import type { PageProps } from '../page';
import { Button } from '../parts/button';
import { Card } from '../parts/card';
import { Question } from '../parts/dialog';
import { Empty } from '../parts/note';

interface Origins {
  origins: { live: string[]; test: string[] };
}

function answerOf(count: number, environment: string): string {
  if (count === 0) {
    return environment === 'test'
      ? 'No site may show the test frame yet. Begin with http://localhost:5173.'
      : 'No site may show the live frame yet.';
  }
  const sites = count === 1 ? 'One site' : `${count} sites`;
  return `${sites} may show the ${environment} frame, and no other.`;
}

/** The origin in an address that somebody has pasted, or the text itself. */
function originIn(text: string): string {
  try {
    const { origin } = new URL(text);
    return origin === 'null' ? text : origin;
  } catch {
    return text;
  }
}

interface ListProps {
  origins: string[];
  environment: Environment;
  onRemove: ((origin: string) => void) | null;
}

function List({ origins, environment, onRemove }: ListProps) {
  return (
    <Card flush>
      {origins.length === 0 && (
        <Empty icon="globe" title={`No ${environment} origin`}>
          Browsers show the frame on these sites and on no other.
        </Empty>
      )}
      <ul class="list">
        {origins.map((origin) => (
          <li key={origin}>
            <code>{origin}</code>
            {onRemove !== null && (
              <Button small kind="no" about={origin} onPress={() => onRemove(origin)}>
                Remove
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}

export default function OriginsPage({ api, account, environment, tell }: PageProps) {
  const { value, error, readAgain } = useReading<Origins>(api, 'origins');
  const doing = useAct(readAgain);
  const [removing, remove] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const origins = value?.origins[environment] ?? [];
  const writes = mayWrite(account);
  const add = (event: Event) => {
    event.preventDefault();
    const origin = originIn((field.current?.value ?? '').trim());
    void doing.act(async () => {
      await api.write('add the origin', 'POST', 'origins', { environment, origin });
      tell(`${origin} may show the ${environment} frame.`);
      if (field.current !== null) field.current.value = '';
    });
  };
  const end = (origin: string) => {
    remove(null);
    void doing.act(async () => {
      await api.write('remove the origin', 'DELETE', 'origins', { environment, origin });
      tell(`${origin} is removed.`);
    });
  };
  return (
    <PageFrame
      title="Origins"
      answer={answerOf(origins.length, environment)}
      error={error}
      loading={value === null}
    >
      <Problem error={doing.error} />
      <List {...{ origins, environment }} onRemove={writes ? remove : null} />
      {writes && (
        <form class="row end" onSubmit={add}>
          <div class="stack">
            <label for="origin">Origin of a page: scheme, host and port</label>
            <input id="origin" ref={field} class="in" maxLength={300} required />
          </div>
          <button class="btn pri" disabled={doing.busy}>
            Add {environment} origin
          </button>
        </form>
      )}
      {removing !== null && (
        <Question
          title="Remove the origin?"
          environment={environment}
          act="Remove the origin"
          onAct={() => end(removing)}
          onLeave={() => remove(null)}
        >
          The {environment} frame stays empty on {removing} at its next load. Players who have it
          open play on.
        </Question>
      )}
    </PageFrame>
  );
}
