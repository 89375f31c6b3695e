/** The call with which a test key ends a test match, ready to be run in a shell. */

import { useState } from 'preact/hooks';
import { curlOf, keyOf } from '../now/curl';
import { Card } from '../parts/card';
import { Code } from '../parts/copy';
import { Choice } from '../parts/filters';
import { linkTo } from '../routes';
import type { Tried } from './seen';

type End = 'first' | 'second' | 'drawn' | 'none';

/** What the call sends for each end of the match. */
function bodyOf(end: End, { players: [first, second] }: Tried): object {
  if (end === 'none') return { outcome: 'no_contest' };
  const winner = { first: first.playerId, second: second.playerId, drawn: null }[end];
  return { outcome: 'ended', winnerPlayerId: winner };
}

/** The portal itself never decides: that takes a test key, and no key enters a browser. */
export function Decide({ tried }: { tried: Tried }) {
  const [end, choose] = useState<End>('first');
  const [first, second] = tried.players;
  const path = `/partner/test/matches/${tried.matchId}/decide`;
  return (
    <Card
      title="End it without playing"
      aside={
        <Choice<End>
          label="How it ends"
          choices={[
            ['first', `${first.displayName} wins`],
            ['second', `${second.displayName} wins`],
            ['drawn', 'Drawn'],
            ['none', 'No contest'],
          ]}
          value={end}
          onChoose={choose}
        />
      }
    >
      <p>
        Your automatic tests end a test match with one call. Run it in a shell in which{' '}
        <code>{keyOf('test').slice(1)}</code> is a <a href={linkTo('test', 'keys')}>test key</a>.
        The match above ends at once.
      </p>
      <Code label="Decide as curl" text={curlOf('test', 'POST', path, bodyOf(end, tried))} />
    </Card>
  );
}
