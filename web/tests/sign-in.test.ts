import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { SignIn } from '../src/portal/sign-in';

const ORIGIN = 'https://games.example';
const ISSUER = 'https://id.example';
const DATA = { issuer: ISSUER, clientId: 'portal', sends: 'id' } as const;

type Listener = (event: { source: unknown; origin: string; data: unknown }) => void;

/** A browser with an issuer that signs in `who` at once, and names itself `iss` in its answer. */
class Fake {
  who = 'ann';
  iss = ISSUER;
  /** The address that the page has left for. */
  left: URL | null = null;
  /** Called before the issuer answers a hidden frame. */
  beforeAnswer = (): void => {};
  readonly stored = new Map<string, string>();
  #nonce = '';
  #listeners = new Set<Listener>();

  install(): void {
    const location = { origin: ORIGIN, pathname: '/portal/test/keys', search: '' };
    const assign = (address: string) => (this.left = new URL(address));
    const made: Record<string, unknown> = {
      location: Object.assign(location, { assign }),
      history: { replaceState() {} },
      sessionStorage: {
        getItem: (name: string) => this.stored.get(name) ?? null,
        setItem: (name: string, value: string) => this.stored.set(name, value),
        removeItem: (name: string) => this.stored.delete(name),
      },
      document: { createElement: () => this.#frame(), body: { append() {} } },
      addEventListener: (_: string, listener: Listener) => this.#listeners.add(listener),
      removeEventListener: (_: string, listener: Listener) => this.#listeners.delete(listener),
      window: { open: () => this.#popup() },
      fetch: (address: string) => this.#fetch(address),
    };
    for (const [name, value] of Object.entries(made)) {
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    }
  }

  /** Goes to the issuer and comes back. */
  async signIn(signIn: SignIn): Promise<void> {
    await signIn.leave();
    location.search = this.#answerTo(this.left!);
    await signIn.arrive();
  }

  #answerTo(asked: URL): string {
    this.#nonce = asked.searchParams.get('nonce')!;
    return `?code=c&iss=${this.iss}&state=${asked.searchParams.get('state')}`;
  }

  #post(source: unknown, asked: string): void {
    setTimeout(() => {
      this.beforeAnswer();
      const search = this.#answerTo(new URL(asked));
      const data = { type: 'pgs.portal.signed-in', search };
      for (const listener of [...this.#listeners]) listener({ source, origin: ORIGIN, data });
    }, 0);
  }

  #frame(): object {
    const contentWindow = {};
    const post = (asked: string) => this.#post(contentWindow, asked);
    return { contentWindow, remove() {}, set src(address: string) { post(address); } };
  }

  #popup(): object {
    const post = (asked: string) => this.#post(opened, asked);
    const opened = { closed: false, close() {}, location: { set href(to: string) { post(to); } } };
    return opened;
  }

  async #fetch(address: string): Promise<Response> {
    if (address.endsWith('/.well-known/openid-configuration')) {
      const found = { authorization_endpoint: `${ISSUER}/a`, token_endpoint: `${ISSUER}/t` };
      return Response.json({ issuer: ISSUER, ...found });
    }
    const claims = { sub: this.who, nonce: this.#nonce, email: `${this.who}@example.com` };
    const token = `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.y`;
    return Response.json({ id_token: token, access_token: token });
  }
}

let fake = new Fake();
beforeEach(() => {
  fake = new Fake();
  fake.install();
});

test('a renewal keeps the person, and never takes the token of another one', async () => {
  const signIn = new SignIn(DATA);
  await fake.signIn(signIn);
  assert.equal(await signIn.renew(), true);
  assert.equal(await signIn.inWindow(), null);
  fake.who = 'bob';
  assert.equal(await signIn.renew(), false);
  assert.equal(await signIn.inWindow(), 'another');
  assert.equal(signIn.email, 'ann@example.com');
  signIn.forget();
});

test('a sign-out lasts: a reload does not sign in, and the issuer asks who it is', async () => {
  const signIn = new SignIn(DATA);
  await fake.signIn(signIn);
  assert.equal(fake.left!.searchParams.get('prompt'), null);
  signIn.forget();
  const reloaded = new SignIn(DATA);
  assert.equal(await reloaded.renew(), false);
  assert.equal(reloaded.token, null);
  await fake.signIn(reloaded);
  assert.equal(fake.left!.searchParams.get('prompt'), 'login');
  assert.equal(fake.stored.size, 0);
  assert.equal(await reloaded.renew(), true);
  reloaded.forget();
});

test('a renewal that was under way at a sign-out brings no token', async () => {
  const signIn = new SignIn(DATA);
  await fake.signIn(signIn);
  fake.beforeAnswer = () => signIn.forget();
  const renewed = await signIn.renew();
  assert.equal(signIn.token, null);
  assert.equal(renewed, false);
});

test('an answer that names another issuer is refused', async () => {
  fake.iss = 'https://evil.example';
  const signIn = new SignIn(DATA);
  await assert.rejects(fake.signIn(signIn), /another issuer/);
  assert.equal(signIn.token, null);
});
