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
 * `sessionToken` are used. It is called again when the session has expired. A page that has both
 * values already gives `embedUrl` and `sessionToken` instead.
 */
{
  /**
   * The shortest time between two calls of `session`, in milliseconds, so that a backend whose
   * sessions are refused is not called without end.
   */
  const ASK_AGAIN_MS = 5000;

  /** The reasons of `pgs.error` after which a new session is asked for. */
  const RENEW = ['session_expired', 'session_invalid'];

  /**
   * The option that handles each type of message.
   *
   * @type {Map<unknown, 'onReady' | 'onState' | 'onEnded' | 'onError'>}
   */
  const HANDLERS = new Map([
    ['pgs.ready', 'onReady'],
    ['pgs.state', 'onState'],
    ['pgs.ended', 'onEnded'],
    ['pgs.error', 'onError'],
  ]);

  /**
   * @typedef {{ embedUrl?: string, sessionToken?: string }} Session
   * @typedef {(message: any) => void} Handler
   * @typedef {{
   *   session?: () => Session | Promise<Session>,
   *   embedUrl?: string,
   *   sessionToken?: string,
   *   title?: string,
   *   height?: string,
   *   onReady?: Handler,
   *   onState?: Handler,
   *   onEnded?: Handler,
   *   onError?: Handler,
   * }} Options
   */

  class MountedFrame {
    /**
     * @param {Element} element
     * @param {Options} options
     */
    constructor(element, options) {
      this.element = element;
      this.options = options;
      /** @type {URL | null} */
      this.url = null;
      this.token = options.sessionToken || null;
      this.ready = false;
      this.mounted = true;
      this.askedAt = -Infinity;
      /** @type {any} */
      this.timer = undefined;
      this.iframe = document.createElement('iframe');
      this.iframe.title = options.title || 'Game';
      this.iframe.referrerPolicy = 'origin';
      const height = options.height || '720px';
      this.iframe.style.cssText = `display:block;width:100%;border:0;height:${height}`;
      if (options.embedUrl) this.load(options.embedUrl);
      this.listener = (/** @type {MessageEvent} */ event) => this.receive(event);
      window.addEventListener('message', this.listener);
      if (this.token === null) this.askForSession();
    }

    /** @param {string} address */
    load(address) {
      const url = new URL(address);
      if (url.protocol !== 'https:' && url.protocol !== 'http:') {
        throw new TypeError('PgsEmbed.mount: embedUrl must be an http or https address');
      }
      this.url = url;
      this.iframe.src = url.href;
      this.element.appendChild(this.iframe);
    }

    /** @param {MessageEvent} event */
    receive({ source, origin, data }) {
      if (source !== this.iframe.contentWindow) return;
      if (this.url === null || origin !== this.url.origin) return;
      const handler = data ? HANDLERS.get(data.type) : undefined;
      if (!handler) return;
      if (data.type === 'pgs.ready') {
        this.ready = true;
        this.sendToken();
      } else if (data.type === 'pgs.error' && RENEW.includes(data.reason)) {
        this.askForSession();
      }
      const call = this.options[handler];
      if (typeof call === 'function') call(data);
    }

    sendToken() {
      const frame = this.iframe.contentWindow;
      if (!this.mounted || !this.ready || !frame) return;
      if (this.url === null || this.token === null) return;
      frame.postMessage({ type: 'pgs.session', sessionToken: this.token }, this.url.origin);
    }

    /** @param {string} token */
    setToken(token) {
      this.token = token;
      this.sendToken();
    }

    askForSession() {
      const { session, onError } = this.options;
      if (typeof session !== 'function' || !this.mounted) return;
      clearTimeout(this.timer);
      const wait = this.askedAt + ASK_AGAIN_MS - Date.now();
      if (wait > 0) {
        this.timer = setTimeout(() => this.askForSession(), wait);
        return;
      }
      this.askedAt = Date.now();
      Promise.resolve()
        .then(session)
        .then(({ embedUrl, sessionToken }) => {
          if (!this.mounted) return;
          if (this.url === null) this.load(String(embedUrl));
          this.setToken(String(sessionToken));
        })
        .catch(() => {
          if (!this.mounted || typeof onError !== 'function') return;
          onError({ type: 'pgs.error', reason: 'session_unavailable' });
        });
    }

    unmount() {
      this.mounted = false;
      clearTimeout(this.timer);
      window.removeEventListener('message', this.listener);
      this.iframe.remove();
    }
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
