/** What every page of the portal gets, and what every page shows while it reads or has failed. */

import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { Refused } from './api';
import type { Account, Api, Environment } from './api';
import { Note } from './parts/note';

export interface PageProps {
  api: Api;
  account: Account;
  environment: Environment;
  /** What the page is about, from its address, for a page about one thing. */
  id: string | null;
  /** Says what was done, to everybody who sees or hears. */
  tell(text: string): void;
}

/** Whether the role may change what developers may change. */
export const mayWrite = (account: Account) => account.role !== 'viewer';

/** Whether the role may change what admins alone may change. */
export const mayRule = (account: Account) => account.role === 'admin';

export interface Reading<T> {
  value: T | null;
  error: unknown;
  readAgain(): Promise<void>;
}

/** Reads a path of the admin API, and again when asked or when another window has had the focus. */
export function useReading<T>(api: Api, path: string): Reading<T> {
  const [value, setValue] = useState<T | null>(null);
  const [error, setError] = useState<unknown>(null);
  const readAgain = useCallback(async () => {
    try {
      // The account first: what is read after it is at least as new as its revision.
      await api.account();
      setValue(await api.read<T>(path));
      setError(null);
    } catch (failed) {
      setError(failed);
    }
  }, [api, path]);
  useEffect(() => {
    setValue(null);
    void readAgain();
  }, [readAgain]);
  return { value, error, readAgain };
}

export function Problem({ error }: { error: unknown }) {
  if (error === null) return null;
  const refused = error instanceof Refused ? error : null;
  return (
    <Note tone="bad" alert>
      {error instanceof Error ? error.message : String(error)}{' '}
      {refused !== null && (
        <code>
          {refused.reason} {refused.requestId}
        </code>
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

/** A page: its title, its answer, and what it has read. */
export function PageFrame({ title, answer, acts, error, loading, children }: FrameProps) {
  return (
    <>
      <div class="head">
        <h1 tabIndex={-1}>{title}</h1>
        <p class="answer">{loading && error === null ? 'Reading …' : answer}</p>
        {acts !== undefined && <div class="acts">{acts}</div>}
      </div>
      <Problem error={error} />
      {loading ? error === null && <Shapes /> : children}
    </>
  );
}

/** Grey shapes in the place of what is read. They come only if it takes a moment. */
function Shapes() {
  return (
    <div class="card in-card stack shapes" aria-hidden="true">
      <span class="sk" />
      <span class="sk" />
      <span class="sk" />
    </div>
  );
}

/** Runs an act. Its failure is shown, except that the person has left it. */
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
