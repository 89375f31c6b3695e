/** The navigation: the environments, the pages of one of them, the pages of the whole account. */

import { useEffect } from 'preact/hooks';
import type { Account, Environment } from './api';
import type { Banner } from './banners';
import { Icon } from './parts/icon';
import { Tag } from './parts/note';
import { HOME, linkTo, NOWHERE, pathOf, ROUTES } from './routes';
import type { Group, Place, Route } from './routes';

const NAMES = { test: 'Test', live: 'Live' } as const;

interface RailProps {
  account: Account | null;
  place: Place;
  banners: readonly Banner[];
  /** Escape closes it, where it is a drawer. */
  onLeave(): void;
}

export function Rail({ account, place, banners, onLeave }: RailProps) {
  const { environment, route } = place;
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => event.key === 'Escape' && onLeave();
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [onLeave]);
  return (
    <nav class="side" id="pages" aria-label="Pages">
      <p class="row who">
        <strong class="grow">{account?.name}</strong>
        {account !== null && <Tag>{account.role}</Tag>}
      </p>
      <section class={`of-${environment}`}>
        <div class="seg env" role="group" aria-label="Environment">
          {(['test', 'live'] as const).map((other) => (
            <a
              key={other}
              class={`of-${other}`}
              href={sameIn(other, route)}
              aria-current={other === environment ? 'true' : undefined}
            >
              <i class="dot" />
              {NAMES[other]}
            </a>
          ))}
        </div>
        <Links group="watch" {...{ place, banners }} />
        <Links group="build" {...{ place, banners }} />
      </section>
      <section>
        <h2>Whole account</h2>
        <Links group="account" {...{ place, banners }} />
      </section>
      <ul>
        <li>
          <a href="/docs/" target="_blank" rel="noreferrer">
            <Icon name="doc" />
            Guide for developers
          </a>
        </li>
      </ul>
    </nav>
  );
}

/**
 * Returns the address to which the switch to the other environment leads. From a page about one
 * thing it is the page that lists such things. From a page of the whole account, and from one that
 * the other environment does not have, it is Home. From any other page it is the same page.
 */
function sameIn(other: Environment, route: Route): string {
  if (route.list !== undefined) return linkTo(other, route.list);
  const here = !route.whole && route !== NOWHERE && (route.only ?? other) === other;
  return pathOf(other, here ? route : HOME);
}

/** Marks the link to the page that is shown, and to the list that the page belongs to. */
function currentOf(other: Route, { name, list }: Route): 'page' | 'true' | undefined {
  if (other.name === name) return 'page';
  return other.name === list ? 'true' : undefined;
}

interface LinksProps {
  group: Group;
  place: Place;
  banners: readonly Banner[];
}

function Links({ group, place: { environment, route }, banners }: LinksProps) {
  const failing = (name: string) =>
    banners.filter((banner) => banner.page === name && banner.environment === environment).length;
  const shown = ROUTES.filter(
    (other) => other.group === group && (other.only ?? environment) === environment,
  );
  return (
    <ul>
      {shown.map((other) => (
        <li key={other.name}>
          <a href={pathOf(environment, other)} aria-current={currentOf(other, route)}>
            <Icon name={other.icon} />
            {other.title}
            {failing(other.name) > 0 && (
              <span class="n">
                {failing(other.name)}
                <span class="unseen"> to mend</span>
              </span>
            )}
          </a>
        </li>
      ))}
    </ul>
  );
}
