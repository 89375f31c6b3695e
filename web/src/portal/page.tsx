/** What every page of the portal gets, and what every page shows while it reads or has failed. */

import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { Refused } from './api';
import type { Account, Api, Environment } from './api';

export interface PageProps {
  api: Api;
  account: Account;
  environment: Environment;
  /** Says what was done, to everybody who sees or hears. */
  tell(text: string): void;
}

/** Whether the role may change what developers may change. */
export const mayWrite = (account: Account) => account.role !== 'viewer';

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
    <p class="note bad" role="alert">
      {error instanceof Error ? error.message : String(error)}{' '}
      {refused !== null && (
        <code>
          {refused.reason} {refused.requestId}
        </code>
      )}
    </p>
  );
}

interface FrameProps {
  title: string;
  /** One sentence that answers what the page was opened for. */
  answer: ComponentChildren;
  error: unknown;
  loading: boolean;
  children: ComponentChildren;
}

export function PageFrame({ title, answer, error, loading, children }: FrameProps) {
  return (
    <>
      <h1 tabIndex={-1}>{title}</h1>
      <p class="answer">{loading && error === null ? 'Reading …' : answer}</p>
      <Problem error={error} />
      {!loading && children}
    </>
  );
}

const when = new Intl.DateTimeFormat('en', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
});

/** A time in UTC, or what stands for none. */
export const timeOf = (seconds: number | undefined, none: string) =>
  seconds === undefined ? none : `${when.format(seconds * 1000)} UTC`;

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
