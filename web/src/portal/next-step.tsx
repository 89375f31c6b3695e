/** After a step of the checklist was done on its page: what leads to the next one. */

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Account, Api, Environment } from './api';
import { LinkButton } from './parts/button';
import type { Step } from './parts/checklist';
import type { Route } from './routes';

/** The pages on which steps of the checklist are done. */
export const STEP_PAGES: ReadonlySet<string> = new Set(
  ['account', 'games', 'keys', 'origins', 'prices', 'terms', 'webhooks'],
);

interface NextStepProps {
  api: Api;
  account: Account;
  environment: Environment;
  route: Route;
}

/** Reads what is missing after each change that was made while this page was open. */
export function NextStep({ api, account, environment, route }: NextStepProps) {
  const { revision } = account;
  const opened = useRef(revision);
  const [next, setNext] = useState<Step | undefined>();
  useEffect(() => {
    if (revision === opened.current) return;
    let wanted = true;
    import('./steps')
      .then(({ readNext }) => readNext(api, account, environment))
      .then(
        (found) => wanted && setNext(found),
        () => null,
      );
    return () => {
      wanted = false;
    };
  }, [api, environment, revision]);
  const isHere = next?.href?.endsWith(`/${route.name}`);
  return (
    <div role="status">
      {next !== undefined && !isHere && (
        <div class="card save noprint">
          {next.href === undefined ? (
            <span>Next: {next.title}</span>
          ) : (
            <LinkButton kind="pri" href={next.href}>
              Next: {next.title}
            </LinkButton>
          )}
          {next.href === undefined && next.act?.(true)}
        </div>
      )}
    </div>
  );
}
