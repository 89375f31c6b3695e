/** The frame around every page: the environment, the navigation, who is signed in. */

import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Account, Api } from './api';
import { Asking } from './dialogs';
import { Problem } from './page';
import type { PageProps } from './page';
import { pathOf, placeOf, ROUTES } from './routes';
import type { Place } from './routes';
import type { SignIn } from './sign-in';

const SAYS = {
  test: 'Play money. Nobody is charged.',
  live: 'Real players, real money.',
} as const;

/** Follows links inside the portal without loading the document again. */
function usePlace(): Place {
  const [path, setPath] = useState(location.pathname);
  useEffect(() => {
    const follow = (event: MouseEvent) => {
      const link = (event.target as Element | null)?.closest?.('a[href^="/portal/"]');
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
      event.preventDefault();
      history.pushState(null, '', link.getAttribute('href'));
      setPath(location.pathname);
    };
    const back = () => setPath(location.pathname);
    document.addEventListener('click', follow);
    window.addEventListener('popstate', back);
    return () => {
      document.removeEventListener('click', follow);
      window.removeEventListener('popstate', back);
    };
  }, []);
  return placeOf(path);
}

function useLoaded(place: Place): ComponentType<PageProps> | null {
  const [loaded, setLoaded] = useState<{ name: string; page: ComponentType<PageProps> } | null>(
    null,
  );
  const { route } = place;
  useEffect(() => {
    let wanted = true;
    void route.load().then((module) => {
      if (wanted) setLoaded({ name: route.name, page: module.default });
    });
    return () => {
      wanted = false;
    };
  }, [route]);
  return loaded !== null && loaded.name === route.name ? loaded.page : null;
}

interface ShellProps {
  api: Api;
  signIn: SignIn;
  onLeave(): void;
}

interface BarProps {
  account: Account | null;
  place: Place;
  onLeave(): void;
}

function Bar({ account, place: { environment }, onLeave }: BarProps) {
  return (
    <header class="bar">
      <b>{account?.name ?? 'Portal'}</b>
      <span class="sign">
        <b>{environment === 'live' ? 'Live' : 'Test'}</b> {SAYS[environment]}
      </span>
      <span class="who">{account !== null && `${account.email}, ${account.role}`}</span>
      <button type="button" class="btn" onClick={onLeave}>
        Sign out
      </button>
    </header>
  );
}

function Pages({ place: { environment, route } }: { place: Place }) {
  return (
    <nav aria-label="Pages">
      <div class="row">
        {(['test', 'live'] as const).map((other) => (
          <a
            key={other}
            class="btn"
            href={pathOf(other, route)}
            aria-current={other === environment ? 'true' : undefined}
          >
            {other === 'live' ? 'Live' : 'Test'}
          </a>
        ))}
      </div>
      <ul>
        {ROUTES.map((other) => (
          <li key={other.name}>
            <a
              href={pathOf(environment, other)}
              aria-current={other === route ? 'page' : undefined}
            >
              {other.title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

export function Shell({ api, signIn, onLeave }: ShellProps) {
  const place = usePlace();
  const { environment, route } = place;
  const Page = useLoaded(place);
  const [account, setAccount] = useState<Account | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [told, tell] = useState('');
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    api.account().then(setAccount, setError);
  }, [api]);
  const first = useRef(true);
  useEffect(() => {
    document.title = `${environment === 'live' ? 'Live' : 'Test'} · ${route.title}`;
    if (Page === null || account === null) return;
    // A reader of the screen hears the new page; the first one is read by the browser.
    if (!first.current) main.current?.querySelector('h1')?.focus();
    first.current = false;
  }, [environment, route, Page, account === null]);
  return (
    <div class={`shell ${environment}`}>
      <a class="skip btn" href="#main">
        To the page
      </a>
      <Bar account={account} place={place} onLeave={onLeave} />
      <Pages place={place} />
      <main id="main" ref={main}>
        <Problem error={error} />
        {Page !== null && account !== null && (
          <Page key={`${environment} ${route.name}`} {...{ api, account, environment, tell }} />
        )}
      </main>
      <p class="told" role="status">
        {told}
      </p>
      <Asking api={api} signIn={signIn} />
    </div>
  );
}
