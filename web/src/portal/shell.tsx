/** The frame around every page: the bar of the environment, the navigation, the page. */

import type { ComponentType } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { go, useLinks, usePath } from './address';
import { Refused } from './api';
import type { Account, Api, Environment } from './api';
import { BannerLine, ofAccount, useBanners } from './banners';
import { Bar } from './bar';
import { Catalog, useCatalog } from './catalog';
import { Asking, KEPT_TOO, MERGED } from './dialogs';
import { useKeyboard } from './keyboard';
import { Me } from './me';
import { NextStep, STEP_PAGES } from './next-step';
import { AccountRead, mayWrite, Problem, readAllAgain, READ_AGAIN, UNREAD } from './page';
import type { PageProps } from './page';
import { Palette } from './palette';
import { hasDraft } from './parts/draft';
import { clockOf } from './parts/format';
import { Icon } from './parts/icon';
import { Note } from './parts/note';
import { Rail } from './rail';
import { linkTo, placeOf } from './routes';
import type { Place, Route } from './routes';
import type { SignIn } from './sign-in';

/** How long a message stays, in milliseconds. */
const TOLD_MS = 6000;

/** The place that the address names. A page of the whole account keeps the last environment. */
function usePlace(): Place {
  const last = useRef<Environment>('test');
  const place = placeOf(usePath(), last.current);
  last.current = place.environment;
  useLinks();
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

/** The account as it was read last, here or by a page. */
function useAccount(api: Api) {
  const [account, setAccount] = useState<Account | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const end = api.watch((read) => {
      setAccount(read);
      setError(null);
    });
    const again = () => void api.account().catch(setError);
    again();
    addEventListener(READ_AGAIN, again);
    return () => {
      removeEventListener(READ_AGAIN, again);
      end();
    };
  }, [api]);
  return { account, error };
}

/**
 * Reads again when the window gets the focus, and when the browser is online again, unless input is
 * unsaved or a dialog is open.
 */
function useFocusReads(): void {
  useEffect(() => {
    const focused = () => {
      if (!hasDraft('') && document.querySelector('dialog[open]') === null) readAllAgain();
    };
    addEventListener('focus', focused);
    addEventListener('online', focused);
    return () => {
      removeEventListener('focus', focused);
      removeEventListener('online', focused);
    };
  }, []);
}

/** Says since when the browser has no connection. */
function Offline() {
  const [since, setSince] = useState<number | null>(null);
  useEffect(() => {
    const off = () => setSince(Date.now() / 1000);
    const on = () => setSince(null);
    addEventListener('offline', off);
    addEventListener('online', on);
    return () => {
      removeEventListener('offline', off);
      removeEventListener('online', on);
    };
  }, []);
  if (since === null) return null;
  return (
    <Note tone="warn">
      No connection since {clockOf(since)} UTC. What you see was read before that.
    </Note>
  );
}

/** Says the title of the page, and gives the focus to its heading when the page changes. */
function useTitle({ environment, route, id }: Place, account: Account | null, shown: boolean) {
  const first = useRef(true);
  useEffect(() => {
    const room = route.whole ? '' : `${environment === 'live' ? 'Live' : 'Test'} · `;
    document.title = `${room}${route.title}${account === null ? '' : ` · ${account.name}`}`;
  }, [environment, route, account?.name]);
  useEffect(() => {
    if (!shown) return;
    // Announced to screen readers, except the first page, which the browser announces.
    if (!first.current) document.querySelector<HTMLElement>('main h1')?.focus();
    first.current = false;
  }, [environment, route, id, shown]);
}

/**
 * A message on the screen and for screen readers. It disappears by itself. `MERGED` says that a
 * change by somebody else was kept. If the page's own message then replaces `MERGED`, the sentence
 * `KEPT_TOO` is added to the page's message, so that the person still learns of that change.
 */
function useTold() {
  const [told, setTold] = useState({ text: '', good: true });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const tell = useCallback((text: string, good = true) => {
    clearTimeout(timer.current);
    setTold((before) => ({ text: before.text === MERGED ? `${text} ${KEPT_TOO}` : text, good }));
    timer.current = setTimeout(() => setTold({ text: '', good }), TOLD_MS);
  }, []);
  return { told, tell };
}

interface ShownProps extends Pick<PageProps, 'api' | 'tell'> {
  Page: ComponentType<PageProps>;
  place: Place;
  account: Account | null;
}

/** The page. It reads its data at the same time as the account is read. */
function Shown({ Page, place: { environment, route, id }, account, ...rest }: ShownProps) {
  const key = `${environment} ${route.name} ${id ?? ''}`;
  const nameOf = useCatalog(rest.api, environment);
  const isStep = account !== null && STEP_PAGES.has(route.name) && mayWrite(account);
  return (
    <AccountRead.Provider value={account !== null}>
      <Catalog.Provider value={nameOf}>
        <Page key={key} account={account ?? UNREAD} {...{ environment, id, ...rest }} />
      </Catalog.Provider>
      {isStep && (
        <NextStep key={`${key} next`} api={rest.api} {...{ account, environment, route }} />
      )}
    </AccountRead.Provider>
  );
}

const isStranger = (error: unknown) =>
  error instanceof Refused && error.reason === 'not_a_partner_admin';

export interface ShellProps {
  api: Api;
  signIn: SignIn;
  onLeave(): void;
  /** The caller belongs to no account. */
  onStranger(): void;
}

export function Shell({ api, signIn, onLeave, onStranger }: ShellProps) {
  const place = usePlace();
  useFocusReads();
  const { environment, route } = place;
  const { Page, error: notLoaded } = useLoaded(route);
  const { account, error } = useAccount(api);
  const { told, tell } = useTold();
  const [open, setOpen] = useState<'rail' | 'palette' | 'me' | null>(null);
  const [single, setSingle] = useState(true);
  const found = useBanners(api, account?.revision ?? null);
  const banners = [...ofAccount(environment, account?.active ?? true), ...found];
  useEffect(() => setOpen(null), [route, environment]);
  useEffect(() => {
    if (isStranger(error)) onStranger();
  }, [error]);
  useTitle(place, account, Page !== null && account !== null);
  const onPalette = useCallback(() => setOpen('palette'), []);
  const onPage = useCallback((name: string) => go(linkTo(environment, name)), [environment]);
  useKeyboard({ onPalette, onPage, single });
  const onMenu = () => setOpen(open === 'rail' ? null : 'rail');
  const close = () => setOpen(null);
  return (
    <div
      class={open === 'rail' ? 'app nav-open' : 'app'}
      data-env={route.whole ? 'account' : environment}
    >
      <a class="skip btn" href="#main">
        Skip to the page
      </a>
      <Bar
        {...{ account, place, onPalette, onMenu }}
        open={open === 'rail'}
        onMe={() => setOpen('me')}
      />
      <Rail account={account} place={place} banners={banners} onLeave={close} />
      <div class="sheet" onClick={close} />
      <BannerLine banners={banners} place={place} />
      <main id="main" tabIndex={-1}>
        <Offline />
        <Problem error={error ?? notLoaded} again={account === null} />
        {Page !== null && <Shown {...{ Page, api, account, place, tell }} />}
      </main>
      <p class="toast" role="status">
        {told.text !== '' && <Icon name={told.good ? 'check' : 'warn'} />}
        {told.text}
      </p>
      {account !== null && open === 'palette' && (
        <Palette {...{ account, environment }} onLeave={close} />
      )}
      {account !== null && open === 'me' && (
        <Me {...{ account, single }} onSingle={setSingle} onSignOut={onLeave} onLeave={close} />
      )}
      <Asking {...{ api, signIn, tell }} {...(route.whole ? {} : { environment })} />
    </div>
  );
}
