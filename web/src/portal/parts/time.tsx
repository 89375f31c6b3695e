/** Times as elements: the text that is shown, and the exact time under the pointer. */

import { useEffect, useState } from 'preact/hooks';
import { agoOf, fullTimeOf, localTimeOf, momentOf, shortTimeOf } from './format';

/** Milliseconds after which a text such as "5 minutes ago" is updated. */
const TICK_MS = 10_000;

interface TimeProps {
  /** In epoch seconds. */
  at: number;
}

const named = (at: number) => ({
  dateTime: new Date(at * 1000).toISOString(),
  title: `${fullTimeOf(at)}, ${localTimeOf(at)}`,
});

/** How long ago a time was. The text is renewed while the page is open. */
export function Ago({ at }: TimeProps) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return <time {...named(at)}>{agoOf(at)}</time>;
}

/** A time of a log, in UTC, with its seconds. */
export const Moment = ({ at }: TimeProps) => <time {...named(at)}>{momentOf(at)}</time>;

/** A time in a column whose head names UTC, as `shortTimeOf` says it. */
export const ShortTime = ({ at }: TimeProps) => <time {...named(at)}>{shortTimeOf(at)}</time>;

/** A time in full, in UTC, and how long ago it was. */
export const Full = ({ at }: TimeProps) => (
  <>
    <time {...named(at)}>{fullTimeOf(at)}</time>, <Ago at={at} />
  </>
);
