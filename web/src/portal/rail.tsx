/** The navigation: the environments, the pages of one of them, the pages of the whole account. */

import { useEffect } from 'preact/hooks';
import type { Account, Environment } from './api';
import type { Banner } from './banners';
import { Icon } from './parts/icon';
import { Tag } from './parts/note';
import { pathOf, HOME, ROUTES } from './routes';
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
              href={pathOf(other, sameIn(other, route), null)}
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
    </nav>
  );
}

/** The page to show after the switch: the same one where there is one. */
function sameIn(other: Environment, route: Route): Route {
  return route.whole || (route.only !== undefined && route.only !== other) ? HOME : route;
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
          <a href={pathOf(environment, other)} aria-current={other === route ? 'page' : undefined}>
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
