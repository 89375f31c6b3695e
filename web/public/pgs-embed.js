// @ts-check
/**
 * Mounts a game frame in a page and gives it the session that your backend has minted.
 *
 *   const frame = PgsEmbed.mount(document.querySelector('#game'), {
 *     session: () => fetch('/play/session', { method: 'POST' }).then((answer) => answer.json()),
 *     onEnded: (ended) => console.log(ended.result),
 *   });
 *   frame.unmount();
 *
 * `session` returns the answer of POST /partner/sessions, or a promise of it. Its `embedUrl` and
 * `sessionToken` are used. It is called again when the session has expired, or after a failure. A
 * page that has both values already gives `embedUrl` and `sessionToken` instead.
 */
{
  /**
   * The shortest time between two calls of `session` without a press on the button, in
   * milliseconds, so that a backend whose sessions are refused is not called without end.
   */
  const ASK_AGAIN_MS = 5000;

  /** The longest wait before `session` is called again after failures, in milliseconds. */
  const ASK_AGAIN_MAX_MS = 60000;

  /** How long `session` may take, in milliseconds, before it counts as failed. */
  const SESSION_MAX_MS = 20000;

  /** How long the frame may take until `pgs.ready`, in milliseconds. */
  const READY_MAX_MS = 10000;

  /** The largest height that a frame gets because it asks for it, in CSS pixels. */
  const HEIGHT_MAX_PX = 4000;

  /** The reasons of `pgs.error` after which a new session is asked for. */
  const RENEW = ['session_expired', 'session_invalid'];

  /**
   * The option that handles each type of message.
   *
   * @type {Map<unknown, 'onReady' | 'onState' | 'onEnded' | 'onAgain' | 'onError'>}
   */
  const HANDLERS = new Map([
    ['pgs.ready', 'onReady'],
    ['pgs.state', 'onState'],
    ['pgs.ended', 'onEnded'],
    ['pgs.again', 'onAgain'],
    ['pgs.error', 'onError'],
  ]);

  /**
   * What the page shows while there is no frame: the frame's name, that it is loading, that it has
   * failed, and the button that tries again.
   *
   * @type {Record<string, [string, string, string, string]>}
   */
  const WORDS = {
    en: ['Game', 'The game is loading.', 'The game could not be loaded.', 'Try again'],
    es: ['Juego', 'El juego se está cargando.', 'No se ha podido cargar el juego.', 'Reintentar'],
    pt: ['Jogo', 'O jogo está carregando.', 'O jogo não pôde ser carregado.', 'Tentar de novo'],
    fr: ['Jeu', 'Le jeu se charge.', 'Le jeu n’a pas pu être chargé.', 'Réessayer'],
    de: ['Spiel', 'Das Spiel lädt.', 'Das Spiel konnte nicht geladen werden.', 'Erneut versuchen'],
    ar: ['لعبة', 'جارٍ تحميل اللعبة.', 'تعذّر تحميل اللعبة.', 'إعادة المحاولة'],
  };

  /**
   * @typedef {{ embedUrl?: string, sessionToken?: string }} Session
   * @typedef {(message: any) => void} Handler
   * @typedef {{
   *   session?: () => Session | Promise<Session>,
   *   embedUrl?: string,
   *   sessionToken?: string,
   *   title?: string,
   *   height?: string,
   *   lang?: string,
   *   onReady?: Handler,
   *   onState?: Handler,
   *   onEnded?: Handler,
   *   onAgain?: Handler,
   *   onError?: Handler,
   * }} Options
   */

  /** @param {string | undefined} wanted */
  function languageOf(wanted) {
    const [language = ''] = (wanted || navigator.language || '').toLowerCase().split('-');
    return Object.hasOwn(WORDS, language) ? language : 'en';
  }

  /** What stands in the frame's place while it cannot be shown, in the colours of the page. */
  class Notice {
    /**
     * @param {string} language
     * @param {string} height
     * @param {() => void} onAgain
     */
    constructor(language, height, onAgain) {
      const [game, loading, failed, again] = WORDS[language] || ['', '', '', ''];
      this.game = game;
      this.words = { loading, failed };
      this.element = document.createElement('div');
      this.element.lang = language;
      this.element.dir = language === 'ar' ? 'rtl' : 'ltr';
      this.element.style.cssText =
        'display:none;flex-direction:column;align-items:center;justify-content:center;gap:1rem;' +
        `box-sizing:border-box;width:100%;height:${height};padding:1rem;text-align:center`;
      this.text = document.createElement('p');
      this.text.style.margin = '0';
      this.text.setAttribute('role', 'status');
      this.button = document.createElement('button');
      this.button.type = 'button';
      this.button.textContent = again;
      this.button.style.cssText = 'min-height:44px;padding:0 1.5rem;font:inherit';
      this.button.addEventListener('click', onAgain);
      this.element.append(this.text, this.button);
    }

    /** @param {'loading' | 'failed' | null} state */
    show(state) {
      this.element.style.display = state === null ? 'none' : 'flex';
      this.button.style.display = state === 'failed' ? '' : 'none';
      // Set only when it changes, so that a screen reader says it once.
      const text = state === null ? '' : this.words[state];
      if (this.text.textContent !== text) this.text.textContent = text;
    }
  }

  class MountedFrame {
    /**
     * @param {Element} element
     * @param {Options} options
     */
    constructor(element, options) {
      this.options = options;
      /** @type {URL | null} */
      this.url = null;
      this.token = options.sessionToken || null;
      this.ready = false;
      this.mounted = true;
      this.failed = false;
      /** The number of the last call of `session`; its answer alone counts. */
      this.call = 0;
      this.calling = false;
      this.failures = 0;
      this.askedAt = -Infinity;
      /** @type {any} */
      this.askTimer = undefined;
      /** @type {any} */
      this.readyTimer = undefined;
      const language = languageOf(options.lang);
      const height = options.height || '720px';
      this.iframe = document.createElement('iframe');
      this.notice = new Notice(language, height, () => this.again());
      this.iframe.title = options.title || this.notice.game;
      this.iframe.referrerPolicy = 'origin';
      this.iframe.style.cssText = `display:block;width:100%;border:0;height:${height}`;
      const url = options.embedUrl ? addressOf(options.embedUrl) : null;
      element.append(this.notice.element, this.iframe);
      this.onMessage = (/** @type {MessageEvent} */ event) => this.receive(event);
      this.onOnline = () => this.failed && this.again();
      window.addEventListener('message', this.onMessage);
      window.addEventListener('online', this.onOnline);
      if (url === null) this.show('loading');
      else this.load(url);
      if (this.token === null) this.askForSession();
    }

    /** @param {'loading' | 'failed' | null} state */
    show(state) {
      this.failed = state === 'failed';
      this.notice.show(state);
      this.iframe.style.display = state === null ? 'block' : 'none';
    }

    /** @param {URL} url */
    load(url) {
      this.url = url;
      this.ready = false;
      const address = new URL(url);
      // The document is then written in that language, and need not load another one.
      if (this.options.lang) address.searchParams.set('lang', this.options.lang);
      this.iframe.src = address.href;
      this.show(null);
      clearTimeout(this.readyTimer);
      this.readyTimer = setTimeout(() => {
        this.show('failed');
        this.report('frame_not_loaded');
      }, READY_MAX_MS);
    }

    /** The player has pressed the button, or the browser is online again. */
    again() {
      if (this.url !== null) {
        this.load(this.url);
        this.show('loading'); // and not the browser's own page about the failure
      } else {
        this.askedAt = -Infinity;
        this.show('loading');
        this.askForSession();
      }
    }

    /** @param {string} reason */
    report(reason) {
      const { onError } = this.options;
      if (typeof onError === 'function') onError({ type: 'pgs.error', reason });
    }

    /** @param {MessageEvent} event */
    receive({ source, origin, data }) {
      if (source !== this.iframe.contentWindow) return;
      if (this.url === null || origin !== this.url.origin) return;
      const type = data ? data.type : undefined;
      if (type === 'pgs.ready') {
        this.ready = true;
        clearTimeout(this.readyTimer);
        this.show(null);
        this.sendHost();
        this.sendToken();
      } else if (type === 'pgs.size') {
        this.resize(data.height);
      } else if (type === 'pgs.error' && RENEW.includes(data.reason)) {
        this.askForSession();
      }
      const handler = HANDLERS.get(type);
      const call = handler ? this.options[handler] : undefined;
      if (typeof call === 'function') call(data);
    }

    /** @param {unknown} height */
    resize(height) {
      if (typeof height !== 'number' || !(height > 0)) return;
      const pixels = Math.ceil(Math.min(height, HEIGHT_MAX_PX));
      this.iframe.style.minHeight = `${pixels}px`;
    }

    /** @param {object} message */
    send(message) {
      const frame = this.iframe.contentWindow;
      if (!this.mounted || !this.ready || !frame || this.url === null) return;
      frame.postMessage(message, this.url.origin);
    }

    sendHost() {
      const { lang, onAgain } = this.options;
      const chosen = lang ? { lang } : {};
      this.send({ type: 'pgs.host', again: typeof onAgain === 'function', ...chosen });
    }

    sendToken() {
      if (this.token !== null) this.send({ type: 'pgs.session', sessionToken: this.token });
    }

    /** @param {string} token */
    setToken(token) {
      this.token = token;
      this.sendToken();
    }

    askForSession() {
      const { session } = this.options;
      if (typeof session !== 'function' || !this.mounted || this.calling) return;
      clearTimeout(this.askTimer);
      const pause = Math.min(ASK_AGAIN_MS * 2 ** Math.max(0, this.failures - 1), ASK_AGAIN_MAX_MS);
      const wait = this.askedAt + pause - Date.now();
      if (wait > 0) {
        this.askTimer = setTimeout(() => this.askForSession(), wait);
        return;
      }
      this.askedAt = Date.now();
      this.calling = true;
      this.call += 1;
      const { call } = this;
      const late = setTimeout(() => this.onNoSession(call), SESSION_MAX_MS);
      Promise.resolve()
        .then(session)
        .then((answer) => this.onSession(call, answer))
        .catch(() => this.onNoSession(call))
        .finally(() => clearTimeout(late));
    }

    /**
     * @param {number} call
     * @param {Session} answer
     */
    onSession(call, { embedUrl, sessionToken }) {
      if (call !== this.call || !this.calling) return;
      if (typeof sessionToken !== 'string') throw new TypeError('there is no sessionToken');
      const url = embedUrl === undefined && this.url !== null ? this.url : addressOf(embedUrl);
      this.calling = false;
      this.failures = 0;
      // A session of another partner or environment needs that one's document.
      if (this.url === null || url.href !== this.url.href) this.load(url);
      this.setToken(sessionToken);
    }

    /** @param {number} call */
    onNoSession(call) {
      if (call !== this.call || !this.calling) return;
      this.calling = false;
      this.failures += 1;
      this.askForSession();
      if (this.url === null) this.show('failed');
      if (this.failures === 1) this.report('session_unavailable');
    }
    unmount() {
      this.mounted = false;
      this.call += 1;
      clearTimeout(this.askTimer);
      clearTimeout(this.readyTimer);
      window.removeEventListener('message', this.onMessage);
      window.removeEventListener('online', this.onOnline);
      this.notice.element.remove();
      this.iframe.remove();
    }
  }

  /** @param {unknown} address */
  function addressOf(address) {
    const url = new URL(String(address));
    if (url.protocol !== 'https:' && url.protocol !== 'http:') {
      throw new TypeError('PgsEmbed.mount: embedUrl must be an http or https address');
    }
    return url;
  }

  /** @type {any} */ (window).PgsEmbed = {
    /**
     * Puts a frame into an element. Throws TypeError if the arguments cannot be used.
     *
     * @param {Element} element
     * @param {Options} options
     */
    mount(element, options) {
      if (!element || typeof element.appendChild !== 'function') {
        throw new TypeError('PgsEmbed.mount: the first argument must be an element');
      }
      if (!options || (!options.embedUrl && typeof options.session !== 'function')) {
        throw new TypeError('PgsEmbed.mount: give session, or embedUrl and sessionToken');
      }
      const frame = new MountedFrame(element, options);
      return {
        iframe: frame.iframe,
        setSessionToken: (/** @type {string} */ token) => frame.setToken(token),
        unmount: () => frame.unmount(),
      };
    },
  };
}
