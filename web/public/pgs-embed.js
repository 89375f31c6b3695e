// @ts-check
/**
 * Puts a game frame into a page, and hands it the session that your backend has minted for the player.
 *
 *   const frame = PgsEmbed.mount(document.querySelector('#game'), {
 *     session: () => fetch('/play/session', { method: 'POST' }).then((answer) => answer.json()),
 *     onEnded: (ended) => console.log(ended.result),
 *   });
 *   frame.unmount();
 *
 * `session` returns, or promises, what POST /partner/sessions answered: `embedUrl` and `sessionToken` are needed of it. It is asked again
 * when the session has run out. A page that has both already gives `embedUrl` and `sessionToken` in place of it.
 */
(function (global) {
  'use strict';

  /** A session is asked for again at most this often, so that one that is refused at once does not turn in circles. */
  var AGAIN_MS = 5000;
  var RENEW = { session_expired: true, session_invalid: true };
  var HANDLERS = { 'pgs.ready': 'onReady', 'pgs.state': 'onState', 'pgs.ended': 'onEnded', 'pgs.error': 'onError' };

  /**
   * @typedef {{ embedUrl?: string, sessionToken?: string }} Session
   * @param {Element} element what the frame is put into
   * @param {{
   *   session?: () => Session | Promise<Session>,
   *   embedUrl?: string,
   *   src?: string,
   *   sessionToken?: string,
   *   title?: string,
   *   height?: string,
   *   onReady?: (message: any) => void,
   *   onState?: (message: any) => void,
   *   onEnded?: (message: any) => void,
   *   onError?: (message: any) => void,
   * }} options
   */
  function mount(element, options) {
    if (!element || typeof element.appendChild !== 'function') throw new TypeError('PgsEmbed.mount: the first argument is an element');
    var given = options || {};
    var address = given.embedUrl || given.src;
    if (!address && typeof given.session !== 'function') throw new TypeError('PgsEmbed.mount: give session, or embedUrl and sessionToken');

    /** @type {URL | null} */
    var url = null;
    var token = given.sessionToken || null;
    var ready = false;
    var mounted = true;
    var askedAt = -Infinity;
    /** @type {any} */
    var timer;

    var iframe = document.createElement('iframe');
    iframe.title = given.title || 'Game';
    iframe.referrerPolicy = 'origin';
    iframe.style.cssText = 'display:block;width:100%;border:0;height:' + (given.height || '720px');

    /** @param {string} where */
    function open(where) {
      url = new URL(where);
      if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new TypeError('PgsEmbed.mount: embedUrl is an http address');
      iframe.src = url.href;
      element.appendChild(iframe);
    }

    /** @param {any} message */
    function heard(message) {
      if (url === null || message.source !== iframe.contentWindow || message.origin !== url.origin) return;
      var data = message.data;
      if (!data || typeof data !== 'object' || !Object.prototype.hasOwnProperty.call(HANDLERS, data.type)) return;
      if (data.type === 'pgs.ready') {
        ready = true;
        handOver();
      } else if (data.type === 'pgs.error' && Object.prototype.hasOwnProperty.call(RENEW, data.reason)) {
        ask();
      }
      var handler = given[/** @type {'onState'} */ (HANDLERS[/** @type {'pgs.state'} */ (data.type)])];
      if (typeof handler === 'function') handler(data);
    }

    function handOver() {
      if (mounted && ready && url !== null && token !== null && iframe.contentWindow) {
        iframe.contentWindow.postMessage({ type: 'pgs.session', sessionToken: token }, url.origin);
      }
    }

    function ask() {
      if (typeof given.session !== 'function' || !mounted) return;
      clearTimeout(timer);
      var wait = askedAt + AGAIN_MS - Date.now();
      if (wait > 0) {
        timer = setTimeout(ask, wait);
        return;
      }
      askedAt = Date.now();
      Promise.resolve()
        .then(given.session)
        .then(function (session) {
          if (!mounted) return;
          if (url === null) open(String(session.embedUrl));
          setSessionToken(String(session.sessionToken));
        })
        .catch(function () {
          if (mounted && typeof given.onError === 'function') given.onError({ type: 'pgs.error', reason: 'session_unavailable' });
        });
    }

    /** @param {string} next */
    function setSessionToken(next) {
      token = next;
      handOver();
    }

    global.addEventListener('message', heard);
    if (address) open(address);
    if (token === null) ask();

    return {
      iframe: iframe,
      setSessionToken: setSessionToken,
      unmount: function () {
        mounted = false;
        clearTimeout(timer);
        global.removeEventListener('message', heard);
        iframe.remove();
      },
    };
  }

  /** @type {any} */ (global).PgsEmbed = { mount: mount };
})(window);
