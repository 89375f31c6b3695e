import { render } from 'preact';
import { Controller } from './controller';
import type { Browser, SocketLike } from './game-client';
import { HostPage, readDocument } from './host-page';
import type { WindowLike } from './host-page';
import { adoptOwnStyles, adoptStyles } from './styles';
import { showTheme } from './theme';
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
  adoptStyles,
};

const meta = document.querySelector<HTMLMetaElement>('meta[name="pgs-frame"]');
const data = readDocument(meta?.content);
const page = new HostPage(window as unknown as WindowLike, data.origins, {
  onToken: (token) => controller.setToken(token),
  onHost(again, lang) {
    controller.setAgain(again);
    if (lang !== null) void controller.setLanguage([lang, ...languages]);
  },
});
const controller = new Controller(browser, page, data);

// The address can name the language, and the document is then written in it.
const asked = new URLSearchParams(location.search).get('lang');
const languages = asked === null ? navigator.languages : [asked, ...navigator.languages];
void controller.setLanguage(languages);
adoptOwnStyles();
showTheme(data.theme);
const root = document.getElementById('app');
if (root !== null) render(<Frame controller={controller} framed={page.exists} />, root);
addEventListener('online', () => controller.retryNow());
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') controller.retryNow();
});
page.send({ type: 'pgs.ready' });
