/** The third step: a test key, shown once, and the line that turns green with its first call. */

import { useEffect, useState } from 'preact/hooks';
import type { Api } from './api';
import { keyOf } from './now/curl';
import { Problem } from './page';
import { LABEL_MAX } from './parts/bounds';
import { Button } from './parts/button';
import { Code } from './parts/copy';
import { Secret } from './parts/dialog';
import { useHeld } from './parts/draft';
import { Field } from './parts/field';
import { Icon } from './parts/icon';
import { Note } from './parts/note';

interface Minted {
  keyId: string;
  apiKey: string;
}

/** How often the first call is looked for, in milliseconds, and how many times at most. */
const LOOK_MS = 2000;
const LOOKS_MAX = 300;

/** Whether a key has been used. It looks every two seconds, for ten minutes. */
function useFirstCall(api: Api, keyId: string): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (seen) return;
    let looks = 0;
    const timer = setInterval(() => {
      looks += 1;
      if (looks >= LOOKS_MAX) clearInterval(timer);
      api
        .read<{ keys: { keyId: string; lastUsedAt?: number }[] }>('keys?limit=500')
        .then(({ keys }) => {
          const key = keys.find((other) => other.keyId === keyId);
          if (key?.lastUsedAt !== undefined) setSeen(true);
        })
        .catch(() => null);
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, [api, keyId, seen]);
  return seen;
}

interface FirstKeyProps {
  api: Api;
  /** Whether a key is shown that is not stored yet. */
  onHeld(held: boolean): void;
  onDone(): void;
}

export function FirstKey({ api, onHeld, onDone }: FirstKeyProps) {
  const [minted, setMinted] = useState<Minted | null>(null);
  const [label, setLabel] = useState('first');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const make = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    const body = { environment: 'test', label };
    await api.write<Minted>('make the key', 'POST', 'keys', body).then(setMinted, setError);
    setBusy(false);
  };
  return (
    <>
      <div class="stack tight">
        <h1 tabIndex={-1}>Your first key</h1>
        <p class="quiet">
          A test key. Your server seats players with it. Nothing that it does costs money.
        </p>
      </div>
      <Problem error={error} />
      {minted === null ? (
        <form class="stack" onSubmit={make}>
          <Field
            label="Label"
            help="Where it will be used, as “shop server”."
            maxLength={LABEL_MAX}
            required
            value={label}
            onInput={(event) => setLabel(event.currentTarget.value)}
          />
          <div class="row">
            <Button kind="pri" busy={busy}>
              Make the test key
            </Button>
          </div>
        </form>
      ) : (
        <Stored {...{ api, minted, onHeld, onDone }} />
      )}
    </>
  );
}

interface StoredProps extends FirstKeyProps {
  minted: Minted;
}

/** The new key, until the person says that it is stored. */
function Stored({ api, minted, onHeld, onDone }: StoredProps) {
  const [stored, setStored] = useState(false);
  useHeld(!stored);
  useEffect(() => onHeld(!stored), [stored]);
  const seen = useFirstCall(api, minted.keyId);
  return (
    <>
      <Secret secret={minted.apiKey} onCopied={() => setStored(true)} />
      <Note tone="warn">
        <strong>Shown only once.</strong> Put it into your server’s secret store now. If it is
        lost, make another.
      </Note>
      <FirstCall seen={seen} />
      <label class="check">
        <input
          type="checkbox"
          checked={stored}
          onChange={(event) => setStored(event.currentTarget.checked)}
        />
        <span>I have stored it</span>
      </label>
      <div class="row">
        <Button kind="pri" disabled={!stored} onPress={onDone}>
          Go on to the first match
        </Button>
      </div>
    </>
  );
}

function FirstCall({ seen }: { seen: boolean }) {
  const bearer = `Authorization: Bearer ${keyOf('test')}`;
  const call = `curl ${location.origin}/partner/me \\\n  -H "${bearer}"`;
  return (
    <div class="stack tight">
      <h2>Does it work?</h2>
      <Code text={call} label="Call as curl" />
      <p class="row small whole" role="status">
        {seen ? <Icon name="ok" tone="good" /> : <i class="dot" />}
        {seen ? 'Its first call has arrived.' : 'Waits for its first call. You can go on without.'}
      </p>
    </div>
  );
}
