import { render } from 'preact';
import { Controller } from './controller';
import type { Browser, SocketLike } from './game-client';
import { HostPage, readOrigins } from './host-page';
import type { WindowLike } from './host-page';
import './boards.css';
import './frame.css';
import { Frame } from './view/frame';

const browser: Browser = {
  fetch: (url, init) => fetch(url, init),
  socket(path, protocols) {
    const origin = location.origin.replace(/^http/, 'ws');
    return new WebSocket(`${origin}${path}`, protocols) as SocketLike;
  },
  after(ms, then) {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
  now: () => Date.now(),
};

const data = document.querySelector<HTMLMetaElement>('meta[name="pgs-frame"]')?.content;
const page = new HostPage(window as unknown as WindowLike, readOrigins(data), (token) =>
  controller.setToken(token),
);
const controller = new Controller(browser, page);

const root = document.getElementById('app');
if (root !== null) render(<Frame controller={controller} framed={page.exists} />, root);
addEventListener('online', () => controller.retryNow());
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') controller.retryNow();
});
page.send({ type: 'pgs.ready' });
