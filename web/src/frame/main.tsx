import { render } from 'preact';
import type { SocketLike, Surroundings } from './connection';
import { Controller } from './controller';
import { Host, readSettings } from './host';
import type { WindowLike } from './host';
import './style.css';
import { Frame } from './view/frame';

const around: Surroundings = {
  fetch: (url, init) => fetch(url, init),
  socket: (path, protocols) => new WebSocket(`${location.origin.replace(/^http/, 'ws')}${path}`, protocols) as SocketLike,
  after(ms, then) {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
  now: () => Date.now(),
};

const settings = readSettings(document.querySelector<HTMLMetaElement>('meta[name="pgs-frame"]')?.content);
const host = new Host(window as unknown as WindowLike, settings.origins, (token) => controller.use(token));
const controller = new Controller(around, host);

const root = document.getElementById('app');
if (root !== null) render(<Frame controller={controller} framed={host.framed} />, root);
addEventListener('online', () => controller.hurry());
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') controller.hurry();
});
host.tell({ type: 'pgs.ready' });
