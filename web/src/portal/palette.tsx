/** The command palette: pages, acts, and whatever an id belongs to. */

import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { go } from './address';
import type { Account, Environment } from './api';
import { LETTERS } from './keyboard';
import { ROOMS, useModal } from './parts/dialog';
import { Icon } from './parts/icon';
import type { IconName } from './parts/icon';
import { linkTo, pathOf, ROUTES } from './routes';

export interface Command {
  name: string;
  icon: IconName;
  path: string;
  /** The keys to press that also lead to `path`. */
  keys?: string;
  group: 'Do' | 'Go to' | 'Find';
  /** More words by which it is found. */
  also?: string | undefined;
}

const GUIDE = '/docs/';

/** By the name of a page: what people look for there. */
const ALSO: Record<string, string> = {
  account: 'emergency stop domain',
  events: 'audit',
  find: 'seat player support refund',
  security: 'totp 2fa code',
  webhooks: 'signing secret nudges',
};

const other = { test: 'live', live: 'test' } as const;

function pages(environment: Environment): Command[] {
  return ROUTES.filter(
    (route) => route.group !== 'hidden' && (route.only ?? environment) === environment,
  ).map((route) => {
    const letter = Object.keys(LETTERS).find((key) => LETTERS[key] === route.name);
    return {
      name: route.title,
      icon: route.icon,
      path: pathOf(environment, route),
      group: 'Go to' as const,
      also: ALSO[route.name],
      ...(letter === undefined || route.whole ? {} : { keys: `G ${letter.toUpperCase()}` }),
    };
  });
}

function acts({ role }: Account, environment: Environment): Command[] {
  const to = (page: string) => linkTo(environment, page);
  const found: (Command | false)[] = [
    role !== 'viewer' && {
      name: `Make a ${environment} key`,
      icon: 'key',
      path: to('keys'),
      group: 'Do',
    },
    role !== 'viewer' && {
      name: `Send a test event to ${environment}`,
      icon: 'bell',
      path: to('webhooks'),
      group: 'Do',
    },
    role !== 'viewer' && {
      name: 'Play a test match',
      icon: 'play',
      path: linkTo('test', 'try'),
      group: 'Do',
    },
    role === 'admin' && {
      name: 'Invite somebody',
      icon: 'people',
      path: `${to('members')}?open=invite`,
      group: 'Do',
    },
    {
      name: `Go to ${other[environment]}`,
      icon: 'todo',
      path: linkTo(other[environment], ''),
      group: 'Do',
    },
  ];
  const guide = { name: 'Guide for developers', also: 'docs', path: GUIDE } as const;
  found.push({ ...guide, icon: 'doc', group: 'Go to' });
  return found.filter((command): command is Command => command !== false);
}

/** For each kind of id: its pattern, what it names, and the address that shows it. */
const IDS: readonly [RegExp, string, (environment: Environment, id: string) => string][] = [
  [/^mat_\w+$/, 'Match', (environment, id) => linkTo(environment, 'matches', id)],
  [/^inv_\w+$/, 'Invoice', (environment, id) => linkTo(environment, 'invoice', id)],
  [/^sea_\w+$/, 'Seat', (environment, id) => found(environment, id)],
  [/^att_\w+$/, 'Attempt', (environment, id) => `${linkTo(environment, 'webhooks')}?open=${id}`],
  [/^ndg_\w+$/, 'Attempts of', (environment, id) => `${linkTo(environment, 'webhooks')}?q=${id}`],
  [/^key_\w+$/, 'API key', (environment, id) => `${linkTo(environment, 'keys')}?open=${id}`],
  [/^evt_\w+$/, 'Change', (environment, id) => `${linkTo(environment, 'events')}?open=${id}`],
];

const found = (environment: Environment, text: string) =>
  `${linkTo(environment, 'find')}?q=${encodeURIComponent(text)}`;

function ofText(environment: Environment, text: string): Command[] {
  const command = { icon: 'find', group: 'Find' } as const;
  const known = IDS.find(([form]) => form.test(text));
  if (known !== undefined) {
    const [, noun, path] = known;
    return [{ ...command, name: `${noun} ${text}`, path: path(environment, text) }];
  }
  if (text.length < 3) return [];
  const name = `Find matches of “${text}”`;
  return [{ ...command, name, path: found(environment, text) }];
}

/**
 * What the palette offers for a text: acts and pages that have all its words, and what an id names,
 * or else a search for matches.
 */
export function commandsFor(account: Account, environment: Environment, text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const all = [...acts(account, environment), ...pages(environment)];
  const named = all.filter(({ name, also }) =>
    words.every((word) => `${name} ${also ?? ''}`.toLowerCase().includes(word)),
  );
  return [...named, ...ofText(environment, text.trim())];
}

/** How far an arrow key moves the choice. */
const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };

interface PaletteProps {
  account: Account;
  environment: Environment;
  onLeave(): void;
}

export function Palette({ account, environment, onLeave }: PaletteProps) {
  const dialog = useModal();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const id = useId();
  const commands = commandsFor(account, environment, text);
  const chosen = Math.min(at, commands.length - 1);
  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    onLeave();
    if (command.path === GUIDE) location.assign(GUIDE);
    else go(command.path);
  };
  const pressed = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step === undefined && event.key !== 'Enter') return;
    event.preventDefault();
    if (step === undefined) run(commands[chosen]);
    else setAt((chosen + step + commands.length) % Math.max(1, commands.length));
  };
  return (
    <dialog
      ref={dialog}
      class="pal"
      aria-label="Search"
      data-env={environment}
      onCancel={(event) => {
        event.preventDefault();
        onLeave();
      }}
      onClick={(event) => event.target === dialog.current && onLeave()}
    >
      <p class="edge">{ROOMS[environment]}</p>
      <input
        class="in"
        role="combobox"
        aria-expanded="true"
        aria-autocomplete="list"
        aria-controls={`${id}-list`}
        aria-activedescendant={commands.length > 0 ? `${id}-${chosen}` : ''}
        aria-label="Search"
        placeholder="A page, an action, or any id"
        autocomplete="off"
        autofocus
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={pressed}
      />
      <Choices {...{ id, commands, chosen }} onRun={run} />
      <p class="unseen" role="status">
        {commands.length} found
      </p>
    </dialog>
  );
}

interface ChoicesProps {
  id: string;
  commands: readonly Command[];
  chosen: number;
  onRun(command: Command): void;
}

function Choices({ id, commands, chosen, onRun }: ChoicesProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  return (
    <div ref={list} id={`${id}-list`} class="choices" role="listbox" aria-label="Results">
      {commands.map((command, index) => (
        <div
          key={command.name}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === chosen}
          onClick={() => onRun(command)}
        >
          <Icon name={command.icon} />
          {command.name}
          <span class="small quiet">{command.group}</span>
          {command.keys !== undefined && <kbd>{command.keys}</kbd>}
        </div>
      ))}
    </div>
  );
}
