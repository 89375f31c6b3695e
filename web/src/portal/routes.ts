/** The addresses of the portal: `/portal/<environment>/<page>`. */

import type { ComponentType } from 'preact';
import type { Environment } from './api';
import type { PageProps } from './page';

export interface Route {
  name: string;
  title: string;
  load(): Promise<{ default: ComponentType<PageProps> }>;
}

export const ROUTES: readonly Route[] = [
  { name: 'keys', title: 'API keys', load: () => import('./pages/keys') },
  { name: 'games', title: 'Games', load: () => import('./pages/games') },
  { name: 'webhooks', title: 'Webhooks', load: () => import('./pages/webhooks') },
  { name: 'origins', title: 'Origins', load: () => import('./pages/origins') },
];

export interface Place {
  environment: Environment;
  route: Route;
}

/** Returns where a path leads. Without an environment: to test. An unknown page: to the first. */
export function placeOf(path: string): Place {
  const [, , first = '', second = ''] = path.split('/');
  const named = first === 'test' || first === 'live';
  const name = named ? second : first;
  return {
    environment: first === 'live' ? 'live' : 'test',
    route: ROUTES.find((route) => route.name === name) ?? ROUTES[0]!,
  };
}

export const pathOf = (environment: Environment, route: Route) =>
  `/portal/${environment}/${route.name}`;
