/** Games, their licences, and the acts that change one. */

import type { Environment } from '../api';
import type { Will } from '../parts/dialog';

export interface Game {
  gameId: string;
  name: string;
  test: boolean;
  live: 'none' | 'requested' | 'granted' | 'denied' | 'withdrawn';
  note?: string;
}

export interface Act {
  game: Game;
  method: 'POST' | 'DELETE';
  path: string;
  /** The act in words, as a button of a dialog and as the end of a sentence. */
  what: string;
  /** The label of its button in the row of its game, and what screen readers say after it. */
  short: string;
  about: string;
  done: string;
  /** Whether it takes something away. */
  loses: boolean;
  /** What the question before the act says, or nothing if the act is done at once. */
  will: readonly Will[];
}

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

export function testAct(game: Game): Act {
  const common = { game, path: `games/${game.gameId}/test`, about: `${game.name} in test` };
  if (!game.test) {
    const [what, done] = [`turn ${game.name} on in test`, `${game.name} is on in test.`];
    return { ...common, method: 'POST', short: 'Turn on', what, done, loses: false, will: [] };
  }
  return {
    ...common,
    method: 'DELETE',
    short: 'Turn off',
    what: `turn ${game.name} off in test`,
    done: `${game.name} is off in test.`,
    loses: true,
    will: [
      { icon: 'no', says: 'New sessions and seats are refused at once.' },
      { icon: 'play', says: `${PLAYED_ON} Live stays as it is.` },
    ],
  };
}

const PLAYED_ON = 'Its matches that run are played to their end.';

export function liveAct(game: Game): Act {
  const common = { game, path: `games/${game.gameId}/live-request` };
  if (game.live === 'granted') {
    return {
      ...common,
      method: 'DELETE',
      short: 'Give up live access',
      about: `to ${game.name}`,
      what: `give up live access to ${game.name}`,
      done: `${game.name} is off in live.`,
      loses: true,
      will: [
        { icon: 'stop', tone: 'bad', says: 'Real players get no new session and no new seat.' },
        { icon: 'play', says: PLAYED_ON },
        { icon: 'clock', says: 'Getting it back is a new request to the platform.' },
      ],
    };
  }
  if (game.live === 'requested') {
    return {
      ...common,
      method: 'DELETE',
      short: 'Take back the request',
      about: `for ${game.name}`,
      what: `take back the request for ${game.name}`,
      done: 'The request is taken back.',
      loses: false,
      will: [],
    };
  }
  return {
    ...common,
    method: 'POST',
    short: 'Request live access',
    about: `to ${game.name}`,
    what: `request live access to ${game.name}`,
    done: `Live access to ${game.name} is requested.`,
    loses: false,
    will: [
      { icon: 'clock', says: 'The platform looks at your test matches, and grants or denies.' },
      { icon: 'check', says: 'Nothing changes for players until then. You can take it back.' },
    ],
  };
}

/** Whether live access can be requested, given up or taken back. */
export const hasLiveAct = ({ test, live }: Game) =>
  test || live === 'granted' || live === 'requested';

const names = (games: readonly Game[]) => games.map(({ name }) => name).join(', ');

/** Which games are on, and which wait for the platform. The first part is shown in bold. */
export function answerOf(games: readonly Game[], environment: Environment): [string, string] {
  const on = games.filter((game) =>
    environment === 'test' ? game.test : game.live === 'granted',
  );
  const waiting = games.filter(({ live }) => live === 'requested');
  const bold = `${on.length} of ${games.length} games are on in ${environment}.`;
  const verb = waiting.length === 1 ? 'waits' : 'wait';
  return [
    bold,
    waiting.length === 0 ? '' : `${names(waiting)} ${verb} for the platform's answer.`,
  ];
}
