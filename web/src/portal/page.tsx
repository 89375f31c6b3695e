/** What every page gets, how it reads and writes, and how it shows what has failed. */

import { createContext } from 'preact';
import type { ComponentChildren } from 'preact';
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';
import { Cancelled, Refused } from './api';
import type { Account, Api, Environment } from './api';
import { Button } from './parts/button';
import { Copy } from './parts/copy';
import { Note } from './parts/note';

export interface PageProps {
  api: Api;
  account: Account;
  environment: Environment;
  /** What the page is about, from its address, for a page about one thing. */
  id: string | null;
  /**
   * Says what an act has done, on the screen and to screen readers. `good` is false if the act was
   * carried out but its result is a failure: a nudge was sent again, and not delivered.
   */
  tell(text: string, good?: boolean): void;
}

/** Whether the role may change what developers may change. */
export const mayWrite = (account: Account) => account.role !== 'viewer';

/** Whether the role may change what admins alone may change. */
export const mayRule = (account: Account) => account.role === 'admin';

/** Stands for the account until it is read. Its role may do nothing, and no page shows it. */
export const UNREAD: Account = {
  partnerId: '',
  name: '',
  active: true,
  role: 'viewer',
  uid: '',
  email: '',
  revision: 0,
  pins: { live: 1, test: 1 },
  stepUp: { enrolled: false },
  rakeTerms: {},
  open: {
    live: { waitingSeats: 0, runningMatches: 0 },
    test: { waitingSeats: 0, runningMatches: 0 },
  },
};

/**
 * Whether the account was read. A page reads its data at the same time and shows it once this is
 * true, so that both reads take one round trip.
 */
export const AccountRead = createContext(false);

export interface Reading<T> {
  /** What was read last. It stays when a later read fails. */
  value: T | null;
  /** When it was read, in epoch seconds. */
  at: number | null;
  error: unknown;
  readAgain(): Promise<void>;
}

/** How long after a failure it is tried again, in milliseconds. */
const AGAIN_MS = 10_000;

export const READ_AGAIN = 'pgs-read-again';

/** Reads again everything that is shown. */
export const readAllAgain = () => dispatchEvent(new Event(READ_AGAIN));

/** Whether the same read may succeed later. */
const mayPass = (error: unknown) =>
  !(error instanceof Refused) || error.status >= 500 || error.status === 429;

/** Reads a path of the admin API, as `useReadingOf` does. */
export function useReading<T>(api: Api, path: string): Reading<T> {
  const read = useCallback(() => api.read<T>(path), [api, path]);
  return useReadingOf(api, read);
}

/**
 * Reads what a page shows. Reads it again when `readAgain` is called, when the window gets the
 * focus, and a while after a failure. A new function reads something else, so what was read
 * before is dropped.
 */
export function useReadingOf<T>(api: Api, read: () => Promise<T>): Reading<T> {
  const [value, setValue] = useState<T | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const current = useRef(read);
  current.current = read;
  const readAgain = useCallback(async () => {
    try {
      const found = await api.together(read);
      if (current.current !== read) return;
      setValue(found);
      setAt(Date.now() / 1000);
      setError(null);
    } catch (failed) {
      if (current.current === read) setError(failed);
    }
  }, [api, read]);
  useEffect(() => {
    setValue(null);
    setError(null);
    void readAgain();
  }, [readAgain]);
  useReadWithAll(readAgain);
  useRetry(error, readAgain);
  return { value, at, error, readAgain };
}

/** Reads again a while after a failure, if the same read may succeed then. */
export function useRetry(error: unknown, readAgain: () => Promise<void>): void {
  useEffect(() => {
    if (error === null || !mayPass(error)) return;
    const timer = setTimeout(() => void readAgain(), AGAIN_MS);
    return () => clearTimeout(timer);
  }, [error, readAgain]);
}

/** Reads again after each call of `readAllAgain`. `wanted`: whether to do so. */
export function useReadWithAll(readAgain: () => Promise<void>, wanted = true): void {
  useEffect(() => {
    if (!wanted) return;
    const again = () => void readAgain();
    addEventListener(READ_AGAIN, again);
    return () => removeEventListener(READ_AGAIN, again);
  }, [readAgain, wanted]);
}

/** How often a page that waits for other people is read again, in milliseconds. */
const FRESH_MS = 10_000;

/**
 * Reads again every ten seconds while the page can be seen and no dialog is open. `changes`:
 * whether what is shown can still change.
 */
export function useKeptFresh(readAgain: () => Promise<void>, changes = true): void {
  useEffect(() => {
    if (!changes) return;
    const timer = setInterval(() => {
      if (!document.hidden && document.querySelector('dialog[open]') === null) void readAgain();
    }, FRESH_MS);
    return () => clearInterval(timer);
  }, [readAgain, changes]);
}

/**
 * Shows an error: its message, its code, and the id of the request, which support needs. Shows
 * nothing if the person has cancelled.
 */
export function Problem({ error, again }: { error: unknown; again?: boolean }) {
  if (error === null || error === undefined || error instanceof Cancelled) return null;
  const refused = error instanceof Refused ? error : null;
  const act = again && mayPass(error) && (
    <Button small onPress={readAllAgain}>
      Try now
    </Button>
  );
  return (
    <Note tone="bad" alert act={act}>
      {error instanceof Error ? error.message : String(error)}{' '}
      {refused !== null && refused.reason !== '' && <code>{refused.reason}</code>}
      {again && mayPass(error) && ` It is tried again every ${AGAIN_MS / 1000} seconds.`}
      {refused !== null && refused.requestId !== '' && (
        <p class="small">
          If you write to support, name this: <code>{refused.requestId}</code>{' '}
          <Copy text={refused.requestId} what="the request id" small />
        </p>
      )}
    </Note>
  );
}

interface FrameProps {
  title: string;
  /** One sentence that answers what the page was opened for. */
  answer: ComponentChildren;
  /** Buttons beside the title. */
  acts?: ComponentChildren;
  error: unknown;
  loading: boolean;
  children: ComponentChildren;
}

const NOT_READ = 'This page could not be read. This does not affect play, keys or webhooks.';

/** A page: its title, its answer, and what it has read. */
export function PageFrame({ title, answer, acts, error: failed, ...rest }: FrameProps) {
  const read = useContext(AccountRead);
  const loading = rest.loading || !read;
  const error = read ? failed : null; // the shell says why the account could not be read
  return (
    <>
      <div class="head">
        <h1 tabIndex={-1}>{title}</h1>
        <p class="answer">{loading ? (error === null ? 'Reading …' : NOT_READ) : answer}</p>
        {acts !== undefined && read && <div class="acts">{acts}</div>}
      </div>
      <Problem error={error} again />
      {loading ? error === null && <Shapes /> : rest.children}
    </>
  );
}

/** A text of two parts, the first in bold. */
export function BoldFirst({ parts: [bold, rest] }: { parts: [string, string] }) {
  return (
    <>
      <strong>{bold}</strong> {rest}
    </>
  );
}

/** Grey shapes in the place of what is read. They appear only if reading takes a moment. */
function Shapes() {
  return (
    <div class="card in-card stack shapes" aria-hidden="true">
      <span class="sk" />
      <span class="sk" />
      <span class="sk" />
    </div>
  );
}

/** Runs an act. `busy`: it is under way. `error`: why it failed, for `Problem`. */
export function useAct(readAgain: () => Promise<void>) {
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const act = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (failed) {
      setError(failed);
    } finally {
      await readAgain();
      setBusy(false);
    }
  };
  return { act, error, busy };
}
