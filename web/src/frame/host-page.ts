/**
 * The messages between the frame and the host page, which is the page around it. They go to exact
 * origins only, and a token is taken from the parent window only.
 */

/** The part of `window` that is used here. */
export interface WindowLike {
  parent: { postMessage(message: unknown, origin: string): void };
  location: { ancestorOrigins?: ArrayLike<string> };
  document: { referrer: string };
  addEventListener(type: 'message', listener: (event: MessageLike) => void): void;
}

export interface MessageLike {
  source: unknown;
  origin: string;
  data: unknown;
}

/** More characters than any token of the service has. */
const TOKEN_MAX = 4096;
/** The characters of a token, all of which may stand in the name of a WebSocket subprotocol. */
const TOKEN = /^[A-Za-z0-9\-._~]+$/;

/**
 * Returns the registered origins from the data that the service writes into the document, or none
 * if the data cannot be read.
 */
export function readOrigins(data: string | null | undefined): string[] {
  try {
    const { origins } = JSON.parse(data ?? '') as { origins?: unknown };
    if (!Array.isArray(origins)) return [];
    return origins.filter((origin) => typeof origin === 'string');
  } catch {
    return [];
  }
}

export class HostPage {
  readonly #window: WindowLike;
  readonly #origins: readonly string[];
  /** The host page's origin, once it is known. */
  #origin: string | null;

  /** `origins`: the registered origins. `onToken` is called with each token that arrives. */
  constructor(window: WindowLike, origins: readonly string[], onToken: (token: string) => void) {
    this.#window = window;
    this.#origins = origins;
    this.#origin = this.#findOrigin();
    window.addEventListener('message', (event) => {
      if (event.source !== window.parent || !this.#origins.includes(event.origin)) return;
      const data = event.data as { type?: unknown; sessionToken?: unknown } | null;
      if (typeof data !== 'object' || data === null || data.type !== 'pgs.session') return;
      this.#origin = event.origin;
      const token = data.sessionToken;
      if (typeof token === 'string' && token.length <= TOKEN_MAX && TOKEN.test(token)) {
        onToken(token);
      } else {
        this.send({ type: 'pgs.error', reason: 'session_invalid' });
      }
    });
  }

  /** Whether there is a page around the frame. */
  get exists(): boolean {
    return this.#window.parent !== (this.#window as unknown);
  }

  /**
   * Sends a message to the host page. The browser delivers it only if the page has the origin that
   * the message is addressed to. While that origin is unknown, each registered one is tried.
   */
  send(message: object): void {
    if (!this.exists) return;
    const origins = this.#origin === null ? this.#origins : [this.#origin];
    for (const origin of origins) this.#window.parent.postMessage(message, origin);
  }

  /**
   * Returns the origin that the browser names, or null if it is not registered. Browsers without
   * `ancestorOrigins` name it in the referrer only.
   */
  #findOrigin(): string | null {
    const { location, document } = this.#window;
    const origin = location.ancestorOrigins?.[0] ?? originOf(document.referrer);
    return origin !== undefined && this.#origins.includes(origin) ? origin : null;
  }
}

function originOf(url: string): string | undefined {
  try {
    return new URL(url).origin;
  } catch {
    return undefined;
  }
}
