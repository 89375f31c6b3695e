/** The two acts that end play. Each makes the person type a word, and says what will end. */

import { useState } from 'preact/hooks';
import type { Account, Environment, OpenPlay } from './api';
import { Question } from './parts/dialog';
import type { Will } from './parts/dialog';
import { many } from './parts/format';
import { linkTo } from './routes';

/** What is open, in words: `17 matches and 3 waiting seats`. */
const inWords = ({ runningMatches, waitingSeats }: OpenPlay) =>
  `${many(runningMatches, 'match', 'matches')} and ${many(waitingSeats, 'waiting seat')}`;

interface StopProps {
  account: Account;
  /** The environment that is chosen first. */
  first: Environment;
  onAct(environment: Environment): void;
  onLeave(): void;
}

export function Stop({ account, first, onAct, onLeave }: StopProps) {
  const [where, choose] = useState(first);
  const will: Will[] = [
    {
      icon: 'stop',
      tone: 'bad',
      says: (
        <>
          <strong>{inWords(account.open[where])} end now</strong> in {where}, without a winner.
          Every stake goes back.
        </>
      ),
    },
    { icon: 'seat', says: 'Every player is shut out: no session made so far works any more.' },
    {
      icon: 'key',
      tone: 'warn',
      says: (
        <>
          <strong>Keys still work.</strong> Your server can let players in again at once. If a
          key leaked, <a href={linkTo(where, 'keys')}>revoke it first</a>.
        </>
      ),
    },
  ];
  return (
    <Question
      key={where}
      title="Emergency stop"
      environment={where}
      will={will}
      word={where}
      act={`Stop ${where} now`}
      leave="Do nothing"
      onAct={() => onAct(where)}
      onLeave={onLeave}
      before={
        <div class="seg env" role="group" aria-label="Where">
          {(['test', 'live'] as const).map((name) => (
            <button
              key={name}
              type="button"
              class={`of-${name}`}
              aria-pressed={name === where}
              onClick={() => choose(name)}
            >
              <i class="dot" />
              {name === 'test' ? 'Test' : 'Live'}
            </button>
          ))}
        </div>
      }
    />
  );
}

interface SwitchOffProps {
  account: Account;
  onAct(): void;
  onLeave(): void;
}

export function SwitchOff({ account, onAct, onLeave }: SwitchOffProps) {
  const { live, test } = account.open;
  const will: Will[] = [
    {
      icon: 'stop',
      tone: 'bad',
      says: (
        <>
          <strong>
            Live: {inWords(live)} end now. Test: {inWords(test)}.
          </strong>{' '}
          Nobody wins. Every stake goes back.
        </>
      ),
    },
    {
      icon: 'key',
      says: 'Every key, test and live, is refused. No nudge is sent. Results wait in the feed.',
    },
    { icon: 'people', says: 'You and your colleagues can still sign in, read and change.' },
    {
      icon: 'again',
      says: 'An admin can switch it on again with a fresh code. Ended matches do not come back.',
    },
  ];
  return (
    <Question
      title={`Switch ${account.name} off?`}
      will={will}
      word={account.partnerId}
      act={`Switch ${account.name} off`}
      leave="Leave it on"
      onAct={onAct}
      onLeave={onLeave}
    />
  );
}
