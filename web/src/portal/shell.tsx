/** The frame around every page: the bar of the environment, the navigation, the page. */

import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLinks, usePath } from './address';
import type { Account, Api, Environment } from './api';
import { Asking } from './dialogs';
import { Problem } from './page';
import type { PageProps } from './page';
import { Icon } from './parts/icon';
import { Rail } from './rail';
import { pathOf, placeOf, HOME } from './routes';
import type { Place, Route } from './routes';
import type { SignIn } from './sign-in';

const ROOMS = {
  test: ['Test', 'Play money. Nobody is charged.'],
  live: ['Live', 'Real players, real money.'],
  account: ['Whole account', 'Counts in test and in live.'],
} as const;

/** The place that the address names. A page of the whole account keeps the last environment. */
function usePlace(): Place {
  const last = useRef<Environment>('test');
  const place = placeOf(usePath(), last.current);
  last.current = place.environment;
  return place;
}

function useLoaded(route: Route) {
  const [loaded, setLoaded] = useState<{ route: Route; page: ComponentType<PageProps> } | null>(
    null,
  );
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    let wanted = true;
    setError(null);
    route.load().then(
      (module) => wanted && setLoaded({ route, page: module.default }),
      (failed: unknown) => wanted && setError(failed),
    );
    return () => {
      wanted = false;
    };
  }, [route]);
  return { Page: loaded?.route === route ? loaded.page : null, error };
}

export interface ShellProps {
  api: Api;
  signIn: SignIn;
  onLeave(): void;
}

interface BarProps {
  account: Account | null;
  place: Place;
  open: boolean;
  onMenu(): void;
  onLeave(): void;
}

function Bar({ account, place: { environment, route }, open, onMenu, onLeave }: BarProps) {
  const [room, says] = ROOMS[route.whole ? 'account' : environment];
  return (
    <header class="top">
      <button
        type="button"
        class="btn sq menu"
        aria-label="Pages"
        aria-expanded={open}
        aria-controls="pages"
        onClick={onMenu}
      >
        <Icon name="menu" />
      </button>
      <a class="brand" href={pathOf(environment, HOME)} aria-label="Game Service, Home">
        <Icon name="mark" />
        <span>Game Service</span>
      </a>
      <div class="room">
        <b>
          {!route.whole && <i class={environment === 'live' ? 'dot on' : 'dot'} />}
          {room}
        </b>
        <span>{says}</span>
      </div>
      <span class="grow" />
      <span class="small wide-only">{account?.email}</span>
      <button type="button" class="btn" onClick={onLeave}>
        Sign out
      </button>
    </header>
  );
}

/** Says the title of the page, and gives the focus to its heading when the page changes. */
function useTitle({ environment, route }: Place, account: Account | null, shown: boolean) {
  const first = useRef(true);
  useEffect(() => {
    const room = route.whole ? '' : `${environment === 'live' ? 'Live' : 'Test'} · `;
    document.title = `${room}${route.title}${account === null ? '' : ` · ${account.name}`}`;
    if (!shown) return;
    // A reader of the screen hears the new page; the first one is read by the browser.
    if (!first.current) document.querySelector<HTMLElement>('main h1')?.focus();
    first.current = false;
  }, [environment, route, account?.name, shown]);
}

export function Shell({ api, signIn, onLeave }: ShellProps) {
  const place = usePlace();
  useLinks();
  const { environment, route, id } = place;
  const { Page, error: notLoaded } = useLoaded(route);
  const [account, setAccount] = useState<Account | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [told, tell] = useState('');
  const [open, setOpen] = useState(false);
  useEffect(() => {
    api.account().then(setAccount, setError);
  }, [api]);
  useEffect(() => setOpen(false), [route, environment]);
  useTitle(place, account, Page !== null && account !== null);
  return (
    <div
      class={open ? 'app nav-open' : 'app'}
      data-env={route.whole ? 'account' : environment}
    >
      <a class="skip btn" href="#main">
        Skip to the page
      </a>
      <Bar {...{ account, place, open, onLeave }} onMenu={() => setOpen(!open)} />
      <Rail account={account} place={place} />
      <div class="sheet" onClick={() => setOpen(false)} />
      <main id="main" tabIndex={-1}>
        <Problem error={error ?? notLoaded} />
        {Page !== null && account !== null && (
          <Page
            key={`${environment} ${route.name} ${id ?? ''}`}
            {...{ api, account, environment, id, tell }}
          />
        )}
      </main>
      <p class="toast" role="status">
        {told}
      </p>
      <Asking api={api} signIn={signIn} />
    </div>
  );
}
