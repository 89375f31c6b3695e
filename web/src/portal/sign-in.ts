/**
 * Signing in with the issuer: authorization code with PKCE. The token stays in memory. A hidden
 * frame renews it without showing a page. If the issuer does not allow that, the person signs in
 * again in a small window.
 */

export interface PortalData {
  issuer: string;
  clientId: string;
  sends: 'id' | 'access';
}

interface Asked {
  state: string;
  verifier: string;
  nonce: string;
  back: string;
}

interface Discovered {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
}

const PATH = '/portal/signed-in';
const STORED = 'pgs-sign-in';
/** Stored while this tab is signed out: a reload does not sign in by itself. */
const SIGNED_OUT = 'pgs-signed-out';
const MESSAGE = 'pgs.portal.signed-in';

/** How long the hidden frame may take, in milliseconds. */
const SILENT_MAX_MS = 10000;
/** How long before its end a token is renewed, in milliseconds. */
const EARLY_MS = 60000;
/** The longest delay that a browser's timer keeps, in milliseconds. */
const TIMER_MAX_MS = 2 ** 31 - 1;

const base64url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/**
 * First characters of the `state` of a sign-in in a small window. The service knows them, and lets
 * only the answer to such a sign-in reach the window that asked.
 */
const WINDOW_MARK = 'w.';

const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

const redirectUri = () => location.origin + PATH;

/** Returns a path inside the portal: the given one, or the portal's first page. */
export function insidePortal(back: string, origin: string): string {
  try {
    const url = new URL(back, origin);
    const inside = url.pathname === '/portal' || url.pathname.startsWith('/portal/');
    if (url.origin === origin && inside && url.pathname !== PATH) return url.pathname + url.search;
  } catch {
    // not an address
  }
  return '/portal';
}

/** Returns the claims of a token from the issuer itself. The API checks its signature. */
export function claimsOf(token: string): Record<string, unknown> {
  const part = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
  const bytes = Uint8Array.from(atob(part), (character) => character.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}

const isSignedOut = () => sessionStorage.getItem(SIGNED_OUT) !== null;

/**
 * Hands an answer of the issuer, if this document's address has one, to the window that asked.
 * Returns whether this document must show nothing: it has handed an answer over, or is in a frame.
 */
export function handOver(): boolean {
  const asker = window.parent !== window ? window.parent : (window.opener as Window | null);
  if (asker === null) return false;
  if (location.pathname === PATH) {
    asker.postMessage({ type: MESSAGE, search: location.search }, location.origin);
  }
  return window.parent !== window || location.pathname === PATH;
}

/** A renewal has signed in another person. */
class AnotherPerson extends Error {}

export class SignIn {
  readonly #data: PortalData;
  #token: string | null = null;
  /** The issuer's id of the person who is signed in, and whose data this page shows. */
  #person: unknown = null;
  #forgotten = false;
  #discovered: Promise<Discovered> | null = null;
  #renewing: Promise<boolean> | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(data: PortalData) {
    this.#data = data;
  }

  get token(): string | null {
    return this.#token;
  }

  /** The e-mail address of the person who is signed in, from the issuer. */
  get email(): string {
    const email = this.#token === null ? undefined : claimsOf(this.#token).email;
    return typeof email === 'string' ? email : '';
  }

  /** The path to show after the sign-in that this tab waits for, or null. */
  get awaited(): string | null {
    const stored = sessionStorage.getItem(STORED);
    if (location.pathname !== PATH || stored === null) return null;
    const { back } = JSON.parse(stored) as Asked;
    return insidePortal(back, location.origin).split('?')[0]!;
  }

  /** Signs out of this tab. A renewal that still runs gets nothing. */
  forget(): void {
    clearTimeout(this.#timer);
    this.#token = null;
    this.#forgotten = true;
    sessionStorage.setItem(SIGNED_OUT, 'yes');
  }

  /** Goes to the issuer's page. The browser comes back to the path that is shown now. */
  async leave(): Promise<void> {
    // After signing out, the issuer asks who signs in, even if it still knows somebody.
    const more = isSignedOut() ? { prompt: 'login' } : {};
    const { url, asked } = await this.#request(location.pathname + location.search, more);
    sessionStorage.setItem(STORED, JSON.stringify(asked));
    location.assign(url);
  }

  /**
   * Signs in with the issuer's answer, which is in this page's address. First the address is set
   * back to the one from which the sign-in was begun. So an invite's link is not lost, even if the
   * sign-in fails.
   */
  async arrive(): Promise<void> {
    const stored = sessionStorage.getItem(STORED);
    sessionStorage.removeItem(STORED);
    const { search } = location;
    const asked = JSON.parse(stored ?? 'null') as Asked | null;
    history.replaceState(null, '', insidePortal(asked?.back ?? '', location.origin));
    if (asked === null) throw new Error('This sign-in was not begun here.');
    await this.#redeem(search, asked);
    sessionStorage.removeItem(SIGNED_OUT);
  }

  /** Gets a new token without showing a page; returns whether it worked. Calls share a renewal. */
  renew(): Promise<boolean> {
    if (isSignedOut()) return Promise.resolve(false);
    this.#renewing ??= this.#silently().finally(() => (this.#renewing = null));
    return this.#renewing;
  }

  async #silently(): Promise<boolean> {
    const frame = document.createElement('iframe');
    frame.hidden = true;
    frame.title = 'Sign-in';
    try {
      const { url, asked } = await this.#request('/portal', { prompt: 'none' });
      frame.src = url;
      document.body.append(frame);
      await this.#redeem(await answerOf(() => frame.contentWindow, SILENT_MAX_MS), asked);
      return true;
    } catch {
      return false;
    } finally {
      frame.remove();
    }
  }

  /** Signs in again in a small window, so that the page stays. Returns why not, or null. */
  async inWindow(): Promise<'another' | 'failed' | null> {
    const opened = window.open('', '_blank', 'popup,width=480,height=640');
    if (opened === null) return 'failed';
    try {
      const { url, asked } = await this.#request('/portal', {}, WINDOW_MARK);
      opened.location.href = url;
      await this.#redeem(await answerOf(() => opened), asked);
      return null;
    } catch (error) {
      return error instanceof AnotherPerson ? 'another' : 'failed';
    } finally {
      opened.close();
    }
  }

  async #request(back: string, more: Record<string, string> = {}, mark = '') {
    const asked: Asked = { state: mark + random(), verifier: random(), nonce: random(), back };
    const bytes = new TextEncoder().encode(asked.verifier);
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
    const { authorization_endpoint: endpoint } = await this.#discover();
    const url = new URL(endpoint);
    const parameters = {
      response_type: 'code',
      client_id: this.#data.clientId,
      redirect_uri: redirectUri(),
      scope: 'openid email profile',
      state: asked.state,
      nonce: asked.nonce,
      code_challenge: base64url(digest),
      code_challenge_method: 'S256',
      ...more,
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return { url: url.href, asked };
  }

  async #redeem(search: string, asked: Asked): Promise<void> {
    const answer = new URLSearchParams(search);
    if (answer.get('state') !== asked.state) throw new Error('The answer is not to this request.');
    const code = answer.get('code');
    if (code === null) throw new Error(answer.get('error') ?? 'There is no code.');
    const { token_endpoint: endpoint, issuer } = await this.#discover();
    // RFC 9207: an issuer may name itself, so that another one's answer is not taken for its own.
    const named = answer.get('iss') ?? issuer;
    if (named !== issuer) throw new Error('The answer is of another issuer.');
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri(),
      client_id: this.#data.clientId,
      code_verifier: asked.verifier,
    });
    const reply = await fetch(endpoint, { method: 'POST', body });
    if (!reply.ok) throw new Error('The issuer did not take the code.');
    const tokens = (await reply.json()) as { id_token: string; access_token: string };
    const { nonce, sub } = claimsOf(tokens.id_token);
    if (nonce !== asked.nonce) throw new Error('The nonce is another.');
    if (this.#forgotten) throw new Error('You have signed out meanwhile.');
    // What was typed here, or waits to be sent again, is not for another person's account.
    if (this.#person !== null && sub !== this.#person) throw new AnotherPerson();
    this.#person = sub;
    this.#keep(this.#data.sends === 'id' ? tokens.id_token : tokens.access_token);
  }

  #keep(token: string): void {
    this.#token = token;
    const { exp } = claimsOf(token) as { exp?: number };
    const wait = (exp ?? 0) * 1000 - Date.now() - EARLY_MS;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.renew(), Math.min(Math.max(wait, EARLY_MS), TIMER_MAX_MS));
  }

  #discover(): Promise<Discovered> {
    const issuer = this.#data.issuer.replace(/\/$/, '');
    this.#discovered ??= fetch(`${issuer}/.well-known/openid-configuration`)
      .then((reply) => reply.json() as Promise<Discovered>)
      .catch((error: unknown) => {
        this.#discovered = null;
        throw error;
      });
    return this.#discovered;
  }
}

/** Returns what the issuer answered to another window of this origin. */
function answerOf(source: () => Window | null, maxMs?: number): Promise<string> {
  return new Promise((done, failed) => {
    const stop = () => {
      removeEventListener('message', listener);
      clearTimeout(timer);
      clearInterval(watch);
    };
    const listener = (event: MessageEvent) => {
      if (event.source !== source() || event.origin !== location.origin) return;
      if (event.data?.type !== MESSAGE) return;
      stop();
      done(String(event.data.search));
    };
    const fail = () => {
      stop();
      failed(new Error('There was no answer.'));
    };
    const timer = maxMs === undefined ? undefined : setTimeout(fail, maxMs);
    const watch = setInterval(() => source()?.closed && fail(), 500);
    addEventListener('message', listener);
  });
}
