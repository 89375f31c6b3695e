/**
 * The addresses of the portal: `/portal/<environment>/<page>/<id>` for a page of an environment,
 * `/portal/<page>` for one of the whole account.
 */

import type { ComponentType } from 'preact';
import type { Environment } from './api';
import type { PageProps } from './page';
import type { IconName } from './parts/icon';

/** The part of the navigation that lists the page. `hidden`: none; only links lead to it. */
export type Group = 'watch' | 'build' | 'account' | 'hidden';

export interface Route {
  /** Its part of the address. Home has none. */
  name: string;
  title: string;
  icon: IconName;
  group: Group;
  /** Whether the page is about the whole account, not about an environment. */
  whole?: true;
  /** The one environment that has the page. */
  only?: Environment;
  /** For a page about one thing: the page that lists such things. */
  list?: string;
  load(): Promise<{ default: ComponentType<PageProps> }>;
}

export const HOME: Route = {
  name: '',
  title: 'Home',
  icon: 'home',
  group: 'watch',
  load: () => import('./pages/home'),
};

export const ROUTES: readonly Route[] = [
  HOME,
  {
    name: 'try',
    title: 'Try it',
    icon: 'play',
    group: 'watch',
    only: 'test',
    load: () => import('./pages/try'),
  },
  {
    name: 'now',
    title: 'Calls now',
    icon: 'pulse',
    group: 'watch',
    load: () => import('./pages/now'),
  },
  {
    name: 'find',
    title: 'Find a match',
    icon: 'find',
    group: 'watch',
    load: () => import('./pages/find'),
  },
  {
    name: 'matches',
    title: 'Match',
    icon: 'find',
    group: 'hidden',
    list: 'find',
    load: () => import('./pages/match'),
  },
  {
    name: 'seats',
    title: 'Waiting seats',
    icon: 'seat',
    group: 'hidden',
    load: () => import('./pages/seats'),
  },
  {
    name: 'usage',
    title: 'Usage',
    icon: 'chart',
    group: 'watch',
    load: () => import('./pages/usage'),
  },
  {
    name: 'keys',
    title: 'API keys',
    icon: 'key',
    group: 'build',
    load: () => import('./pages/keys'),
  },
  {
    name: 'games',
    title: 'Games',
    icon: 'game',
    group: 'build',
    load: () => import('./pages/games'),
  },
  {
    name: 'origins',
    title: 'Origins',
    icon: 'globe',
    group: 'build',
    load: () => import('./pages/origins'),
  },
  {
    name: 'webhooks',
    title: 'Webhooks',
    icon: 'hook',
    group: 'build',
    load: () => import('./pages/webhooks'),
  },
  {
    name: 'prices',
    title: 'Prices',
    icon: 'tag',
    group: 'build',
    load: () => import('./pages/prices'),
  },
  {
    name: 'theme',
    title: 'Theme',
    icon: 'brush',
    group: 'build',
    load: () => import('./pages/theme'),
  },
  {
    name: 'invoices',
    title: 'Invoices',
    icon: 'bill',
    group: 'build',
    load: () => import('./pages/invoices'),
  },
  {
    name: 'invoice',
    title: 'Invoice',
    icon: 'bill',
    group: 'hidden',
    list: 'invoices',
    load: () => import('./pages/invoice'),
  },
  {
    name: 'members',
    title: 'Members',
    icon: 'people',
    group: 'account',
    whole: true,
    load: () => import('./pages/members'),
  },
  {
    name: 'events',
    title: 'Event log',
    icon: 'log',
    group: 'account',
    whole: true,
    load: () => import('./pages/events'),
  },
  {
    name: 'versions',
    title: 'API version',
    icon: 'pin',
    group: 'account',
    whole: true,
    load: () => import('./pages/versions'),
  },
  {
    name: 'terms',
    title: 'Rake terms',
    icon: 'doc',
    group: 'account',
    whole: true,
    load: () => import('./pages/terms'),
  },
  {
    name: 'account',
    title: 'Account',
    icon: 'gear',
    group: 'account',
    whole: true,
    load: () => import('./pages/account'),
  },
  {
    name: 'security',
    title: 'Your authenticator',
    icon: 'lock',
    group: 'account',
    whole: true,
    load: () => import('./pages/security'),
  },
];

/** Stands for every address that leads to no page. It has no address of its own. */
export const NOWHERE: Route = {
  name: 'nowhere',
  title: 'No such page',
  icon: 'no',
  group: 'hidden',
  load: () => import('./pages/nowhere'),
};

export interface Place {
  environment: Environment;
  route: Route;
  /** What the page is about, for a page about one thing. */
  id: string | null;
}

/**
 * Returns where a path leads. Without an environment: to the last one. `NOWHERE` for an unknown
 * page, for a page that the environment does not have, and for a page about one thing if the path
 * has no id.
 */
export function placeOf(path: string, last: Environment = 'test'): Place {
  const [, , ...parts] = path.split('/');
  const named = parts[0] === 'test' || parts[0] === 'live';
  const environment = named ? (parts.shift() as Environment) : last;
  const [name = '', id = ''] = parts;
  const route = ROUTES.find((other) => other.name === name) ?? NOWHERE;
  const missing = (route.only ?? environment) !== environment || (route.list && id === '');
  return { environment, route: missing ? NOWHERE : route, id: id === '' ? null : decoded(id) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the address of a page. */
export function pathOf(environment: Environment, route: Route, id: string | null = null): string {
  const parts = route.whole ? [route.name] : [environment, route.name];
  if (id !== null) parts.push(encodeURIComponent(id));
  return `/portal/${parts.filter((part) => part !== '').join('/')}`;
}

/** Returns the address of a page by its name, in its only environment if it has just one. */
export function linkTo(environment: Environment, name: string, id: string | null = null): string {
  const route = ROUTES.find((other) => other.name === name);
  if (route === undefined) throw new Error(`There is no page ${name}.`);
  return pathOf(route.only ?? environment, route, id);
}
