/** The inspector: what the partner's backend has called, and what the frames have told the page. */

import { useState } from 'preact/hooks';
import type { Call } from './backend';
import type { Heard } from './frames';
import { timeOf } from './words';

const COPIED_MS = 2000;

/** A button that copies a text. It says whether the browser has allowed that. */
export function Copy({ text, label, what }: { text: string; label: string; what?: string }) {
  const [said, setSaid] = useState<string | null>(null);
  const press = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      setSaid('Not allowed');
    }
    setTimeout(() => setSaid(null), COPIED_MS);
  };
  return (
    <button type="button" class="btn copy" onClick={press}>
      {said ?? label}
      {what !== undefined && <span class="unseen"> {what}</span>}
      <span class="unseen" role="status">
        {said}
      </span>
    </button>
  );
}

function CallEntry({ call }: { call: Call }) {
  const fails = call.status >= 400;
  return (
    <li class="entry">
      <details>
        <summary>
          <time>{timeOf(call.atMs)}</time> <b>{call.method}</b> <code>{call.path}</code>{' '}
          <span class={fails ? 'status bad' : 'status good'}>
            {call.status}
            {fails && ' refused'}
          </span>{' '}
          <span class="quiet">{call.tookMs} ms</span>
        </summary>
        {call.sent !== null && (
          <>
            <h3>Sent</h3>
            <pre>{JSON.stringify(call.sent, null, 2)}</pre>
          </>
        )}
        <h3>Received{call.requestId !== null && `, request ${call.requestId}`}</h3>
        <pre>{call.received}</pre>
        <h3>As curl</h3>
        <pre>{call.curl}</pre>
      </details>
      <Copy text={call.curl} label="Copy as curl" what={`${call.method} ${call.path}`} />
    </li>
  );
}

function HeardEntry({ heard }: { heard: Heard }) {
  const { type, ...fields } = heard.message;
  return (
    <li class="entry">
      <div>
        <time>{timeOf(heard.atMs)}</time> <b>{heard.player}</b> <code>{type}</code>
        {Object.keys(fields).length > 0 && <pre>{JSON.stringify(fields)}</pre>}
      </div>
    </li>
  );
}

function Calls({ calls, keyLine }: { calls: Call[]; keyLine: string }) {
  return (
    <>
      <p class="quiet">
        What the partner's backend has asked the service, newest first. The key stays with the
        backend. Read it into your shell once, then paste any call.
      </p>
      <Copy text={keyLine} label="Copy the line that reads the key" />
      <div class="scroll" role="region" aria-label="Calls" tabIndex={0}>
        {calls.length === 0 && <p>No calls yet. Begin a match.</p>}
        <ol>
          {calls.map((call) => (
            <CallEntry key={`${call.atMs} ${call.requestId}`} call={call} />
          ))}
        </ol>
      </div>
    </>
  );
}

function Messages({ heard }: { heard: Heard[] }) {
  return (
    <>
      <p class="quiet">
        What the frames have told this page by <code>postMessage</code>, newest first. Take results
        from the feed: a player could forge these.
      </p>
      <div class="scroll" role="region" aria-label="Messages of the frames" tabIndex={0}>
        {heard.length === 0 && <p>No messages yet. Begin a match.</p>}
        <ol>
          {heard.map((one) => (
            <HeardEntry key={one.number} heard={one} />
          ))}
        </ol>
      </div>
    </>
  );
}

interface InspectorProps {
  calls: Call[];
  heard: Heard[];
  keyLine: string;
}

export function Inspector({ calls, heard, keyLine }: InspectorProps) {
  const [shown, show] = useState<'calls' | 'frames'>('calls');
  const tab = (name: typeof shown, label: string) => (
    <button type="button" class="btn" aria-pressed={shown === name} onClick={() => show(name)}>
      {label}
    </button>
  );
  return (
    <section aria-labelledby="inspector-heading" id="inspector">
      <h2 id="inspector-heading">Inspector</h2>
      <div class="row" role="group" aria-label="What the inspector shows">
        {tab('calls', 'Calls')}
        {tab('frames', 'Frames')}
      </div>
      {shown === 'calls' ? <Calls calls={calls} keyLine={keyLine} /> : <Messages heard={heard} />}
    </section>
  );
}
