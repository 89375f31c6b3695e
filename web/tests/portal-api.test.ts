import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Api, Cancelled, Unreachable } from '../src/portal/api';
import type { Merge, Questions } from '../src/portal/api';
import type { SignIn } from '../src/portal/sign-in';

/** A service whose account has a revision. A test decides what happens when a path is read. */
class Service {
  revision = 7;
  /** The revisions with which writes came. */
  readonly written: (string | undefined)[] = [];
  readonly asked: string[] = [];
  token = 'good';
  /** The reasons with which the next writes are refused. An empty one: no answer comes. */
  refusals: string[] = [];
  /** Called when a call has arrived. It may return the revision to answer with. */
  arrived = async (_path: string): Promise<number | void> => {};

  readonly fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const path = url.replace('/partner/admin/', '');
    const headers = init.headers as Record<string, string>;
    this.asked.push(path);
    if (headers.Authorization !== `Bearer ${this.token}`) {
      return Response.json({ error: '', reason: 'sign_in_required' }, { status: 401 });
    }
    const said = await this.arrived(path);
    if (init.method !== 'GET') {
      this.written.push(headers['If-Match']);
      const reason = this.refusals.shift();
      if (reason === '') throw new TypeError('no answer');
      if (reason !== undefined) return Response.json({ error: '', reason }, { status: 409 });
      this.revision += 1;
    }
    const revision = said ?? this.revision;
    return Response.json({ revision }, { headers: { 'Account-Revision': String(revision) } });
  };
}

let service: Service;
let api: Api;
let renewals: number;

beforeEach(() => {
  service = new Service();
  globalThis.fetch = service.fetch as unknown as typeof fetch;
  renewals = 0;
  const signIn = {
    token: 'good',
    async renew() {
      renewals += 1;
      await new Promise((done) => setTimeout(done, 5));
      signIn.token = service.token;
      return true;
    },
  };
  api = new Api(signIn as unknown as SignIn);
});

const count = (path: string) => service.asked.filter((asked) => asked === path).length;

test('a page and the account are read at the same time', async () => {
  let together = 0;
  let most = 0;
  service.arrived = async () => {
    together += 1;
    most = Math.max(most, together);
    await new Promise((done) => setTimeout(done, 5));
    together -= 1;
  };
  await api.together(() => api.read('keys'));
  assert.equal(most, 2);
  assert.equal(service.asked.length, 2);
});

test('what is older than the account is read again before a write', async () => {
  service.arrived = async (path) => {
    if (path !== 'account' || count('account') > 1) return;
    // The keys are answered first. Then somebody changes the account, and it is answered.
    await new Promise((done) => setTimeout(done, 5));
    service.revision = 8;
  };
  const found = await api.together(() => api.read<{ revision: number }>('keys'));
  assert.equal(found.revision, 8);
  assert.equal(count('keys'), 2);
  await api.write('make a key', 'POST', 'keys', {});
  assert.deepEqual(service.written, ['8']);
});

test('a late answer with the account does not bring an older revision back', async () => {
  let late = true;
  service.arrived = async (path) => {
    if (path !== 'account' || !late) return;
    late = false;
    await new Promise((done) => setTimeout(done, 10));
    return 7;
  };
  const reading = api.account();
  await api.write('do it', 'POST', 'keys', {});
  await reading;
  await api.write('do it again', 'POST', 'keys', {});
  assert.deepEqual(service.written, [undefined, '8']);
});

test('the account is read once for all who ask meanwhile', async () => {
  await Promise.all([
    api.account(),
    api.together(() => api.read('keys')),
    api.together(() => api.read('games')),
  ]);
  assert.equal(count('account'), 1);
});

test('one renewal serves every call that was refused meanwhile', async () => {
  service.token = 'newer';
  await Promise.all([api.read('keys'), api.read('games'), api.read('origins')]);
  assert.equal(renewals, 1);
});

test('one question about the sign-in answers every call that waits for it', async () => {
  service.token = 'newer';
  const signIn = { token: 'good', renew: async () => false };
  api = new Api(signIn as unknown as SignIn);
  let questions = 0;
  const asked: Partial<Questions> = {
    async signInAgain() {
      questions += 1;
      await new Promise((done) => setTimeout(done, 5));
      signIn.token = 'newer';
      return true;
    },
  };
  api.ask(asked as Questions);
  await Promise.all([api.read('keys'), api.read('games')]);
  assert.equal(questions, 1);
});

/** Writes with a merge that has no conflicts. Returns what the person was told and asked. */
function writing(goesOn: boolean) {
  const said: string[] = [];
  const questions: Partial<Questions> = {
    async stepUp() {
      said.push('a code is needed');
      return goesOn;
    },
    tellMerged: () => said.push('merged'),
  };
  api.ask(questions as Questions);
  const merge: Merge = { compare: async () => [], body: () => ({}) };
  return { said, done: api.write('save', 'PUT', 'theme/test', {}, merge) };
}

test('a merge is told once, after the write has succeeded', async () => {
  service.refusals = ['partner_changed', 'step_up_required', 'partner_changed'];
  const { said, done } = writing(true);
  await done;
  assert.deepEqual(said, ['a code is needed', 'merged']);
});

test('no merge is told of a write that does not succeed in the end', async () => {
  service.refusals = ['partner_changed', 'step_up_required'];
  const cancelled = writing(false);
  await assert.rejects(cancelled.done, Cancelled);
  assert.deepEqual(cancelled.said, ['a code is needed']);
  service.refusals = ['partner_changed', ''];
  const unanswered = writing(true);
  await assert.rejects(unanswered.done, Unreachable);
  assert.deepEqual(unanswered.said, []);
});

test('no merge is told of a write that needed none', async () => {
  service.refusals = ['step_up_required'];
  const { said, done } = writing(true);
  await done;
  assert.deepEqual(said, ['a code is needed']);
});
