import { useState } from 'preact/hooks';
import { Question } from '../parts/dialog';
import type { Environment } from '../api';
import { mayWrite, PageFrame, Problem, useAct, useReading } from '../page';
import type { PageProps } from '../page';

interface Game {
  gameId: string;
  name: string;
  test: boolean;
  live: 'none' | 'requested' | 'granted' | 'denied' | 'withdrawn';
  note?: string;
}

const LIVE = {
  none: 'not requested',
  requested: 'requested, the platform decides',
  granted: 'on',
  denied: 'denied',
  withdrawn: 'withdrawn',
} as const;

interface Act {
  game: Game;
  method: 'POST' | 'DELETE';
  path: string;
  /** The act in words, as a button and as the end of a sentence. */
  what: string;
  done: string;
  /** What is asked first, or nothing. */
  asks?: string;
}

function testAct(game: Game): Act {
  const path = `games/${game.gameId}/test`;
  if (!game.test) {
    const [what, done] = [`turn ${game.name} on in test`, `${game.name} is on in test.`];
    return { game, method: 'POST', path, what, done };
  }
  return {
    game,
    method: 'DELETE',
    path,
    what: `turn ${game.name} off in test`,
    done: `${game.name} is off in test.`,
    asks:
      'New test seats are refused at once. Matches that run are played to their end. ' +
      'Live stays.',
  };
}

function liveAct(game: Game): Act {
  const path = `games/${game.gameId}/live-request`;
  if (game.live === 'granted') {
    return {
      game,
      method: 'DELETE',
      path,
      what: `give up live access to ${game.name}`,
      done: `${game.name} is off in live.`,
      asks:
        'No new live session or seat. Matches that run are played to their end and paid. ' +
        'Getting it back is a new request.',
    };
  }
  if (game.live === 'requested') {
    const what = `take back the request for ${game.name}`;
    return { game, method: 'DELETE', path, what, done: 'The request is taken back.' };
  }
  const [what, done] = [`request ${game.name} in live`, `${game.name} is requested in live.`];
  return { game, method: 'POST', path, what, done };
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

interface EntryProps {
  game: Game;
  environment: Environment;
  busy: boolean;
  /** What may be done with it, or nothing. */
  act: Act | null;
  onAct(act: Act): void;
}

function Entry({ game, environment, busy, act, onAct }: EntryProps) {
  const live = game.note === undefined ? LIVE[game.live] : `${LIVE[game.live]}: ${game.note}`;
  const first = !game.test && game.live === 'none' ? ': turn it on in test first' : '';
  return (
    <li data-game={game.gameId}>
      <div>
        <b>{game.name}</b>{' '}
        <span class="quiet">
          {environment === 'live' ? live + first : game.test ? 'on' : 'off'}
        </span>
      </div>
      {act !== null && (
        <button
          type="button"
          class={act.asks === undefined ? 'btn' : 'btn no'}
          disabled={busy}
          onClick={() => onAct(act)}
        >
          {capital(act.what)}
        </button>
      )}
    </li>
  );
}

export default function Games({ api, account, environment, tell }: PageProps) {
  const { value, error, readAgain } = useReading<{ games: Game[] }>(api, 'games?limit=500');
  const doing = useAct(readAgain);
  const [asking, ask] = useState<Act | null>(null);
  const games = value?.games ?? [];
  const on = games.filter((game) => (environment === 'test' ? game.test : game.live === 'granted'));
  const run = (act: Act) => {
    ask(null);
    void doing.act(async () => {
      await api.write(act.what, act.method, act.path);
      tell(act.done);
    });
  };
  const offered = (game: Game): Act | null => {
    if (environment === 'test') return mayWrite(account) ? testAct(game) : null;
    if (account.role !== 'admin') return null;
    return game.test || game.live === 'granted' || game.live === 'requested'
      ? liveAct(game)
      : null;
  };
  return (
    <PageFrame
      title="Games"
      answer={`${on.length} of ${games.length} games are on in ${environment}.`}
      error={error}
      loading={value === null}
    >
      <Problem error={doing.error} />
      <ul class="list">
        {games.map((game) => (
          <Entry
            key={game.gameId}
            {...{ game, environment }}
            busy={doing.busy}
            act={offered(game)}
            onAct={(act) => (act.asks === undefined ? run(act) : ask(act))}
          />
        ))}
      </ul>
      {asking !== null && (
        <Question
          title={`${capital(asking.what)}?`}
          act={capital(asking.what)}
          onAct={() => run(asking)}
          onLeave={() => ask(null)}
        >
          {asking.asks}
        </Question>
      )}
    </PageFrame>
  );
}
