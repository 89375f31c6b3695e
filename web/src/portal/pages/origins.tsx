import { useState } from 'preact/hooks';
import { Refused } from '../api';
import type { Environment } from '../api';
import { mayWrite, PageFrame, Problem, useAct, useReading } from '../page';
import type { PageProps } from '../page';
import { Button } from '../parts/button';
import { Card } from '../parts/card';
import { Question } from '../parts/dialog';
import { Field } from '../parts/field';
import { Empty } from '../parts/note';

interface Origins {
  origins: { live: string[]; test: string[] };
}

const HELP: Record<Environment, string> = {
  test: 'Scheme, host and port, such as http://localhost:5173. An address of a page works too.',
  live: 'Scheme and host, such as https://play.example. An address of a page works too.',
};

function answerOf(count: number, environment: string): string {
  if (count === 0) {
    return environment === 'test'
      ? 'No site may show the test frame yet.'
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

interface AddProps {
  environment: Environment;
  busy: boolean;
  error: unknown;
  onAdd(typed: string, added: () => void): void;
}

function Add({ environment, busy, error, onAdd }: AddProps) {
  const [typed, type] = useState('');
  const send = (event: Event) => {
    event.preventDefault();
    onAdd(typed.trim(), () => type(''));
  };
  return (
    <form class="card" onSubmit={send}>
      <div class="in-card stack">
        <Field
          label={`Origin of a page that shows the ${environment} frame`}
          help={HELP[environment]}
          error={isWrong(error) ? error.message : undefined}
          value={typed}
          maxLength={300}
          required
          spellcheck={false}
          onInput={(event) => type(event.currentTarget.value)}
        />
        <div>
          <Button kind="pri" icon="plus" busy={busy}>
            Add {environment} origin
          </Button>
        </div>
      </div>
    </form>
  );
}

/** Whether what was typed is wrong, and nothing else. */
const isWrong = (error: unknown): error is Refused =>
  error instanceof Refused && error.reason === 'invalid_origin';

export default function OriginsPage({ api, account, environment, tell }: PageProps) {
  const { value, error, readAgain } = useReading<Origins>(api, 'origins');
  const doing = useAct(readAgain);
  const [removing, remove] = useState<string | null>(null);
  const origins = value?.origins[environment] ?? [];
  const writes = mayWrite(account);
  const add = (typed: string, added: () => void) => {
    const origin = originIn(typed);
    void doing.act(async () => {
      await api.write('add the origin', 'POST', 'origins', { environment, origin });
      tell(`${origin} may show the ${environment} frame.`);
      added();
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
      {!isWrong(doing.error) && <Problem error={doing.error} />}
      <List {...{ origins, environment }} onRemove={writes ? remove : null} />
      {writes && (
        <Add {...{ environment }} busy={doing.busy} error={doing.error} onAdd={add} />
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
          open are not interrupted.
        </Question>
      )}
    </PageFrame>
  );
}
