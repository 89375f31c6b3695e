/**
 * The dialog about the caller: who is signed in, the authenticator, the colours, and whether single
 * keys of the keyboard are shortcuts.
 */

import { useState } from 'preact/hooks';
import type { Account } from './api';
import { FRESH_MIN } from './parts/bounds';
import { Button, LinkButton } from './parts/button';
import { Dialog } from './parts/dialog';
import { clockOf } from './parts/format';
import { Note } from './parts/note';

const SCHEMES = ['system', 'light', 'dark'] as const;
type Scheme = (typeof SCHEMES)[number];

const shownScheme = () => (document.documentElement.dataset.scheme ?? 'system') as Scheme;

function paint(scheme: Scheme): void {
  const { dataset } = document.documentElement;
  if (scheme === 'system') delete dataset.scheme;
  else dataset.scheme = scheme;
}

function Colours() {
  const [scheme, setScheme] = useState(shownScheme);
  const choose = (wanted: Scheme) => {
    paint(wanted);
    setScheme(wanted);
  };
  return (
    <div class="field">
      <b id="colours">Colours</b>
      <div class="seg" role="group" aria-labelledby="colours">
        {SCHEMES.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === scheme}
            onClick={() => choose(name)}
          >
            {name[0]!.toUpperCase() + name.slice(1)}
          </button>
        ))}
      </div>
    </div>
  );
}

function factorOf({ stepUp }: Account): string {
  if (!stepUp.enrolled) return 'No authenticator yet. Keys, money and people need its codes.';
  const now = Date.now() / 1000;
  if (stepUp.lockedUntil !== undefined && stepUp.lockedUntil > now) {
    return `The authenticator is locked until ${clockOf(stepUp.lockedUntil)} UTC.`;
  }
  return stepUp.until !== undefined && stepUp.until > now
    ? `A code was given. It counts until ${clockOf(stepUp.until)} UTC; for keys and secrets, for ` +
        `${FRESH_MIN} minutes only.`
    : 'Your authenticator is connected. You are asked for a code when one is needed.';
}

interface MeProps {
  account: Account;
  single: boolean;
  onSingle(on: boolean): void;
  onSignOut(): void;
  onLeave(): void;
}

export function Me({ account, single, onSingle, onSignOut, onLeave }: MeProps) {
  const foot = (
    <>
      <Button onPress={onSignOut}>Sign out</Button>
      <Button kind="pri" autofocus onPress={onLeave}>
        Done
      </Button>
    </>
  );
  return (
    <Dialog title={account.email} onLeave={onLeave} foot={foot}>
      <p class="quiet">
        {account.role} at {account.name}
      </p>
      <Note icon="lock">{factorOf(account)}</Note>
      <div onClick={(event) => (event.target as Element).closest('a') && onLeave()}>
        <LinkButton href="/portal/security">Your authenticator</LinkButton>
      </div>
      <Colours />
      <label class="check">
        <input
          type="checkbox"
          checked={single}
          onChange={(event) => onSingle(event.currentTarget.checked)}
        />
        <span>
          Single keys: <kbd>/</kbd> searches the page, <kbd>G</kbd> and a letter go to a page.{' '}
          <kbd>Ctrl K</kbd> works always.
        </span>
      </label>
    </Dialog>
  );
}
