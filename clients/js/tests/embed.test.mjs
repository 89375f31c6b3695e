/** The embed helper is loaded once, and the React component mounts one frame. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { loadEmbed, makeGameFrame } from '../dist/embed.js';

const scripts = [];
globalThis.window = {};
globalThis.document = {
  createElement: () => ({ remove() {} }),
  head: { append: (script) => scripts.push(script) },
};

/** A React whose effects run at once, for one component. */
function react() {
  const refs = [], effects = [];
  let ref = 0, effect = 0;
  return {
    render(component, props) {
      ref = effect = 0;
      return component(props);
    },
    unmount: () => effects.forEach(({ undo }) => undo()),
    useRef: (initial) => (refs[ref++] ??= { current: initial }),
    useEffect(run, inputs) {
      const place = effect++;
      const last = effects[place];
      if (last && inputs.every((input, number) => input === last.inputs[number])) return;
      last?.undo();
      effects[place] = { inputs, undo: run() };
    },
    createElement: (type, props) => {
      props.ref.current = { type, className: props.className };
      return props.ref.current;
    },
  };
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
  const React = react(), GameFrame = makeGameFrame(React), heard = [];
  const props = { serviceUrl: 'https://games.example', className: 'game', title: 'Play' };
  const session = async () => ({ embedUrl: 'u', sessionToken: 't' });
  const element = React.render(GameFrame, { ...props, session });
  assert.equal(scripts.length, 1);
  assert.equal(scripts[0].src, 'https://games.example/embed/pgs-embed.js');
  window.PgsEmbed = helper();
  scripts.pop().onload();
  await new Promise(setImmediate);
  const [frame] = window.PgsEmbed.mounted;
  assert.deepEqual([frame.element, frame.options.title], [element, 'Play']);
  assert.deepEqual(await frame.options.session(), { embedUrl: 'u', sessionToken: 't' });
  const onEnded = (message) => heard.push(message.result);
  React.render(GameFrame, { ...props, session, onEnded, sessionToken: 't2' });
  frame.options.onEnded({ type: 'pgs.ended', result: 'won' });
  frame.options.onReady({});
  frame.options.onState({});
  frame.options.onError({});
  assert.deepEqual([heard, frame.tokens], [['won'], ['t2']]);
  React.unmount();
  assert.equal(frame.unmounted, true);
  assert.equal(window.PgsEmbed.mounted.length, 1);
});

test('the frame offers another match only to a page that wants to know of it', async () => {
  const heard = [], offered = [];
  for (const [serviceUrl, wanted] of [
    ['https://one.example', {}],
    ['https://two.example', { onAgain: () => heard.push('again'), lang: 'pt-BR' }],
  ]) {
    const React = react();
    React.render(makeGameFrame(React), { serviceUrl, ...wanted });
    window.PgsEmbed = helper();
    scripts.pop().onload();
    await new Promise(setImmediate);
    const [{ options }] = window.PgsEmbed.mounted;
    options.onAgain?.({ type: 'pgs.again' });
    offered.push('onAgain' in options, options.lang);
  }
  assert.deepEqual([offered, heard], [[false, undefined, true, 'pt-BR'], ['again']]);
});

test('the component reports a helper that cannot be loaded', async () => {
  const React = react(), heard = [];
  const onError = ({ reason }) => heard.push(reason);
  React.render(makeGameFrame(React), { serviceUrl: 'https://down.example', onError });
  scripts.pop().onerror();
  await new Promise(setImmediate);
  assert.deepEqual(heard, ['helper_not_loaded']);
});
