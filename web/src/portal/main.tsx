/** The portal, in which a partner's people manage the account. */

import type { ComponentType } from 'preact';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import '../design/tokens.css';
import '../design/pages.css';
import '../design/base.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/parts.css';
import './styles/table.css';
import './styles/dialog.css';
import './styles/shell.css';
import './styles/rail.css';
import './styles/alone.css';
import './styles/chart.css';
import './styles/figures.css';
import './styles/home.css';
import './styles/find.css';
import './styles/match.css';
import './styles/timeline.css';
import './styles/prices.css';
import './styles/stream.css';
import './styles/now.css';
import './styles/try.css';
import './styles/theme.css';
import './styles/terms.css';
import './styles/invoice.css';
import { go, guardBack } from './address';
import { Api } from './api';
import type { FirstRunProps } from './first-run';
import { Icon } from './parts/icon';
import { placeOf } from './routes';
import { Shell } from './shell';
import { handOver, SignIn } from './sign-in';
import type { PortalData } from './sign-in';

/** The product's mark and name, as the bar at the top of every page has them. */
const Brand = () => (
  <p class="brand">
    <Icon name="mark" />
    Game Service
  </p>
);

interface StartProps {
  signIn: SignIn;
  said: string;
}

function Start({ signIn, said }: StartProps) {
  const [problem, setProblem] = useState(said);
  const leave = () => signIn.leave().catch((error: unknown) => setProblem(String(error)));
  const isInvited = location.pathname.startsWith('/portal/join/');
  return (
    <div class="alone">
      <main class="card">
        <div class="in-card stack">
          <Brand />
          <h1>{isInvited ? 'You were invited' : 'Portal'}</h1>
          <p>
            {isInvited
              ? 'Sign in with the address that the invite was sent to. You then see who invites ' +
                'you, and can accept.'
              : "Your games, keys, prices and matches. Your organisation's sign-in opens it."}
          </p>
          <p class="bad" role="alert">
            {problem}
          </p>
          <button type="button" class="btn pri wide" onClick={leave}>
            Sign in
          </button>
        </div>
      </main>
    </div>
  );
}

const isFirstRun = (path = location.pathname) => /^\/portal\/(start|join)(\/|$)/.test(path);

function Portal({ signIn, said }: StartProps) {
  const [api] = useState(() => new Api(signIn));
  const [inside, setInside] = useState(signIn.token !== null);
  const [first, setFirst] = useState(() => isFirstRun());
  const [FirstRun, setFirstRun] = useState<ComponentType<FirstRunProps> | null>(null);
  useEffect(() => {
    if (inside && first) void import('./first-run').then((it) => setFirstRun(() => it.default));
  }, [inside, first]);
  if (!inside) return <Start signIn={signIn} said={said} />;
  const leave = () => {
    signIn.forget();
    setInside(false);
  };
  const ready = () => {
    if (isFirstRun()) go('/portal/test', true);
    setFirst(false);
  };
  if (!first) {
    return <Shell {...{ api, signIn }} onLeave={leave} onStranger={() => setFirst(true)} />;
  }
  return FirstRun && <FirstRun {...{ api, signIn }} onLeave={leave} onReady={ready} />;
}

/** Loads the script of a page while the sign-in is under way. */
function preload(path: string): void {
  if (!isFirstRun(path)) void placeOf(path).route.load().catch(() => null);
}

async function start(): Promise<void> {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="pgs-portal"]');
  const signIn = new SignIn(JSON.parse(meta?.content ?? '{}') as PortalData);
  preload(signIn.awaited ?? location.pathname);
  let said = '';
  if (location.pathname === '/portal/signed-in') {
    try {
      await signIn.arrive();
    } catch (error) {
      said = error instanceof Error ? error.message : String(error);
    }
  } else {
    await signIn.renew(); // a reload keeps the sign-in
  }
  guardBack();
  render(<Portal signIn={signIn} said={said} />, document.getElementById('portal')!);
}

if (!handOver()) void start();
