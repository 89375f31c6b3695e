/** The steps that an account still needs before its first match, each with its button. */

import type { ComponentChildren } from 'preact';
import type { Account, Api, Environment, Role } from './api';
import { Button, LinkButton } from './parts/button';
import { nextOf } from './parts/checklist';
import type { Step } from './parts/checklist';
import { readStanding } from './readiness';
import type { Game, Gate, Standing } from './readiness';
import { linkTo } from './routes';

interface Words {
  done: string;
  open: string;
  says: string;
  button: string;
  /** The lowest role that may do it. */
  needs: Role;
}

const WORDS: Record<string, Words> = {
  account_active: {
    done: 'The account is on',
    open: 'Switch the account on',
    says: 'While it is off, every key is refused.',
    button: 'Go to the account',
    needs: 'admin',
  },
  game_licensed: {
    done: 'A game is on',
    open: 'Turn on a game',
    says: 'Seats can be sold only in a game that is on. Tic-tac-toe is the quickest to try.',
    button: 'Choose a game',
    needs: 'developer',
  },
  rake_terms_agreed: {
    done: 'The rake terms are agreed',
    open: 'Agree to the rake terms',
    says: 'They say what is kept of a stake. Until then every seat is refused.',
    button: 'Read and agree',
    needs: 'admin',
  },
  tier_on_offer: {
    done: 'A tier is on offer',
    open: 'The platform offers no tier for this game',
    says: 'A tier is a floor and a prize. The platform sets it: ask its staff.',
    button: '',
    needs: 'admin',
  },
  prices_in_bounds: {
    done: 'Prices lie between floor and prize',
    open: 'Replace prices that lie outside floor and prize',
    says: 'Until then a seat costs the floor, and a call with the old price is refused.',
    button: 'Set the prices',
    needs: 'admin',
  },
  origin_registered: {
    done: 'A site may show the frame',
    open: 'Add your site’s origin',
    says: 'Without one the frame stays blank on your pages.',
    button: 'Add an origin',
    needs: 'developer',
  },
  webhook_on: {
    done: 'A webhook is on',
    open: 'Save a webhook',
    says: 'It tells your server at once that something changed. Results wait in the feed anyway.',
    button: 'Set a webhook',
    needs: 'developer',
  },
  factor_enrolled: {
    done: 'An admin has an authenticator',
    open: 'Connect an authenticator',
    says: 'Keys, money and people need its codes.',
    button: 'Connect it',
    needs: 'viewer',
  },
};

/** Gates that stop no seat. */
export const ADVICE: ReadonlySet<string> = new Set([
  'origin_registered',
  'webhook_on',
  'factor_enrolled',
]);

const RANK: Record<Role, number> = { viewer: 0, developer: 1, admin: 2 };

export interface StepContext {
  account: Account;
  environment: Environment;
  standing: Standing;
  busy: boolean;
  /** Turns the game on in test. */
  turnOn(game: Game): void;
}

/** The path of the portal page that the service names, or null. The host is ignored. */
function pathIn(changeItAt: string | undefined): string | null {
  if (changeItAt === undefined || !URL.canParse(changeItAt)) return null;
  const { pathname } = new URL(changeItAt);
  return pathname.startsWith('/portal/') ? pathname : null;
}

const may = ({ account }: StepContext, needs: Role) => RANK[account.role] >= RANK[needs];

function actOf(gate: Gate, words: Words, needs: Role, context: StepContext) {
  const { standing, environment, busy, turnOn } = context;
  return (main: boolean): ComponentChildren => {
    if (!may(context, needs)) {
      const whom = needs === 'admin' ? 'an admin' : 'a developer or an admin';
      const names = standing.admins.slice(0, 2).join(', ');
      return <span class="small quiet ask">{`Ask ${whom}: ${names}`}</span>;
    }
    const { game } = standing;
    if (gate.gate === 'game_licensed' && environment === 'test' && game !== null) {
      return (
        <Button {...kind(main)} busy={busy} onPress={() => turnOn(game)}>
          Turn on {game.name}
        </Button>
      );
    }
    const path = pathIn(gate.changeItAt);
    if (path === null) return null;
    return (
      <LinkButton {...kind(main)} href={path}>
        {words.button}
      </LinkButton>
    );
  };
}

const kind = (main: boolean) => (main ? ({ kind: 'pri' } as const) : {});

function stepOf(gate: Gate, context: StepContext): Step {
  const { environment, standing } = context;
  const words = WORDS[gate.gate];
  if (words === undefined) {
    return { name: gate.gate, title: gate.advice ?? gate.gate, done: gate.ok };
  }
  const live = gate.gate === 'game_licensed' && environment === 'live';
  const asked = live && standing.game?.live === 'requested';
  const open = live ? `Request live access to ${standing.game?.name ?? 'a game'}` : words.open;
  const needs = live ? 'admin' : words.needs;
  const path = may(context, needs) ? pathIn(gate.changeItAt) : null;
  return {
    name: gate.gate,
    title: gate.ok ? titleDone(gate, words, standing) : asked ? waiting(standing) : open,
    done: gate.ok,
    says: (
      <>
        {asked ? 'The platform decides. There is nothing for you to do.' : words.says}{' '}
        {gate.reason !== undefined && <code>{gate.reason}</code>}
      </>
    ),
    act: actOf(gate, words, needs, context),
    ...(path === null ? {} : { href: path }),
    waits: asked || gate.gate === 'tier_on_offer',
  };
}

const waiting = ({ game }: Standing) => `Live access to ${game?.name} is requested`;

function titleDone(gate: Gate, words: Words, { game }: Standing): string {
  const named = gate.gate === 'game_licensed' && game !== null;
  return named ? `${words.done}: ${game.name}` : words.done;
}

function keyStep(context: StepContext): Step {
  const { environment, standing } = context;
  const href = linkTo(environment, 'keys');
  const mayMake = may(context, 'developer');
  return {
    name: 'key',
    title: standing.keys > 0 ? `There is a ${environment} key` : `Make a ${environment} key`,
    done: standing.keys > 0,
    says: 'Your server speaks with it. It is shown once.',
    ...(mayMake ? { href } : {}),
    act: (main) =>
      mayMake ? (
        <LinkButton {...kind(main)} {...{ href }}>
          Make a {environment} key
        </LinkButton>
      ) : (
        <span class="small quiet ask">Ask a developer or an admin</span>
      ),
  };
}

function playStep({ account, environment, standing }: StepContext): Step {
  const mayTry = environment === 'test' && account.role !== 'viewer';
  const played = standing.matches.length > 0;
  const href = linkTo(environment, mayTry ? 'try' : 'now');
  return {
    name: 'play',
    title: played ? `A ${environment} match has been played` : 'Play a first match',
    done: played,
    says:
      environment === 'test'
        ? 'Seat two test players and play both sides, right here.'
        : 'Your server mints sessions and seats players. The page Calls now shows each call.',
    href,
    act: (main) => (
      <LinkButton {...kind(main)} {...{ href }}>
        {mayTry ? 'Try it' : 'See the calls'}
      </LinkButton>
    ),
  };
}

/** Returns the steps to a first match, and the advised steps, which a match does not need. */
export function stepsOf(context: StepContext): { needed: Step[]; advised: Step[] } {
  const gates = context.standing.readiness?.gates ?? [];
  const steps = gates.map((gate) => ({ step: stepOf(gate, context), of: gate.gate }));
  return {
    needed: [
      ...steps.filter(({ of }) => !ADVICE.has(of)).map(({ step }) => step),
      keyStep(context),
      playStep(context),
    ],
    advised: steps.filter(({ of }) => ADVICE.has(of)).map(({ step }) => step),
  };
}

/** Reads which step comes next before a match, if one is left. */
export async function readNext(
  api: Api,
  account: Account,
  environment: Environment,
): Promise<Step | undefined> {
  const standing = await readStanding(api, environment);
  const context = { account, environment, standing, busy: false, turnOn: () => {} };
  return nextOf(stepsOf(context).needed);
}
