/** The embed helper is loaded once, and the React component mounts one frame. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { Window } from 'happy-dom';
import { loadEmbed, makeGameFrame } from '../dist/embed.js';

const scripts = [];
globalThis.window = new Window();
globalThis.document = window.document;
globalThis.navigator = window.navigator;
document.head.append = (script) => scripts.push(script);
globalThis.IS_REACT_ACT_ENVIRONMENT = true;

// React looks for a document when it is loaded.
const React = await import('react');
const { createRoot } = await import('react-dom/client');
const GameFrame = makeGameFrame(React);

/** Shows the component in a place of its own. */
async function show(props, around = React.Fragment) {
  const place = document.createElement('main'), root = createRoot(place);
  const render = (next) => React.act(async () => {
    root.render(React.createElement(around, null, React.createElement(GameFrame, next)));
  });
  await render(props);
  return { place, render, unmount: () => React.act(async () => { root.unmount(); }) };
}

/** Ends the loading of the newest script: it defines `helper`, or it fails. */
async function loaded(helper) {
  const script = scripts.pop();
  window.PgsEmbed = helper;
  await React.act(async () => { helper ? script.onload() : script.onerror(); });
  return script;
}

function helper() {
  const mounted = [];
  return {
    mounted,
    mount(element, options) {
      const frame = { element, options, tokens: [], unmounted: false };
      mounted.push(frame);
      return {
        setSessionToken: (token) => frame.tokens.push(token),
        unmount: () => { frame.unmounted = true; },
      };
    },
  };
}

test('a helper that cannot be loaded is asked for again', async () => {
  const failed = loadEmbed('https://down.example');
  scripts.pop().onerror();
  await assert.rejects(failed, /cannot be loaded/);
  const empty = loadEmbed('https://down.example');
  scripts.pop().onload();
  await assert.rejects(empty, /defines no PgsEmbed/);
});

test('the component mounts one frame, follows its properties and unmounts it', async () => {
  const heard = [], made = helper();
  const session = async () => ({ embedUrl: 'u', sessionToken: 't' });
  const props = { serviceUrl: 'https://games.example', className: 'game', title: 'Play', session };
  const shown = await show(props);
  assert.equal(scripts.length, 1);
  assert.equal((await loaded(made)).src, 'https://games.example/embed/pgs-embed.js');
  const [frame] = made.mounted, [element] = shown.place.children;
  assert.equal(frame.element, element);
  assert.deepEqual([element.className, frame.options.title], ['game', 'Play']);
  assert.deepEqual(await frame.options.session(), { embedUrl: 'u', sessionToken: 't' });
  const onEnded = (message) => heard.push(message.result);
  await shown.render({ ...props, onEnded, sessionToken: 't2' });
  frame.options.onEnded({ type: 'pgs.ended', result: 'won' });
  frame.options.onReady({});
  frame.options.onState({});
  frame.options.onError({});
  assert.deepEqual([heard, frame.tokens], [['won'], ['t2']]);
  await shown.unmount();
  assert.equal(frame.unmounted, true);
  assert.equal(made.mounted.length, 1);
});

test('a new address of the frame mounts a new frame in the place of the old one', async () => {
  const made = helper(), serviceUrl = 'https://moving.example';
  const shown = await show({ serviceUrl, embedUrl: 'one', sessionToken: 't' });
  await loaded(made);
  await shown.render({ serviceUrl, embedUrl: 'two', sessionToken: 't' });
  assert.deepEqual(made.mounted.map(({ options }) => options.embedUrl), ['one', 'two']);
  assert.deepEqual(made.mounted.map(({ unmounted }) => unmounted), [true, false]);
});

test('strict mode, which runs every effect twice, leaves one frame', async () => {
  const made = helper();
  const shown = await show({ serviceUrl: 'https://strict.example' }, React.StrictMode);
  assert.equal(scripts.length, 1);
  await loaded(made);
  assert.equal(made.mounted.filter(({ unmounted }) => !unmounted).length, 1);
  await shown.unmount();
  assert.equal(made.mounted.filter(({ unmounted }) => !unmounted).length, 0);
});

test('the frame offers another match only in a page that gives onAgain', async () => {
  const heard = [], offered = [];
  for (const [serviceUrl, wanted] of [
    ['https://one.example', {}],
    ['https://two.example', { onAgain: () => heard.push('again'), lang: 'pt-BR' }],
  ]) {
    const made = helper();
    await show({ serviceUrl, ...wanted });
    await loaded(made);
    const [{ options }] = made.mounted;
    options.onAgain?.({ type: 'pgs.again' });
    offered.push('onAgain' in options, options.lang);
  }
  assert.deepEqual([offered, heard], [[false, undefined, true, 'pt-BR'], ['again']]);
});

test('the component reports a helper that cannot be loaded', async () => {
  const heard = [];
  await show({ serviceUrl: 'https://down.example', onError: ({ reason }) => heard.push(reason) });
  await loaded(undefined);
  assert.deepEqual(heard, ['helper_not_loaded']);
});
