/**
 * The messages between the frame and the host page, which is the page around it. They go to exact
 * origins only, and a token is taken from the parent window only.
 */

import type { Theme } from './protocol';

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

/** What the frame does with the messages of the host page. */
export interface HostListener {
  onToken(token: string): void;
  /** `again`: whether the page offers another match. `lang`: the language it asks for, or null. */
  onHost(again: boolean, lang: string | null): void;
}

interface HostMessage {
  type?: unknown;
  sessionToken?: unknown;
  again?: unknown;
  lang?: unknown;
}

/** What the service has written into the document. */
export interface Document {
  partnerId: string | null;
  environment: string | null;
  /** The origins that may embed the frame. */
  origins: string[];
  theme: Theme | null;
}

/** Returns the data in the document. A field that cannot be read is null or an empty list. */
export function readDocument(data: string | null | undefined): Document {
  let read: Record<string, unknown> = {};
  try {
    read = (JSON.parse(data ?? '') ?? {}) as Record<string, unknown>;
  } catch {
    // The document that the build makes has no data. The service adds the data when it serves the
    // document.
  }
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  const origins = Array.isArray(read.origins) ? read.origins : [];
  return {
    partnerId: text(read.partnerId),
    environment: text(read.environment),
    origins: origins.filter((origin) => typeof origin === 'string'),
    theme: typeof read.theme === 'object' ? (read.theme as Theme | null) : null,
  };
}

export class HostPage {
  readonly #window: WindowLike;
  readonly #origins: readonly string[];
  /** The host page's origin, once it is known. */
  #origin: string | null;

  /** `origins`: the registered origins. The listener is called with what the host page says. */
  constructor(window: WindowLike, origins: readonly string[], listener: HostListener) {
    this.#window = window;
    this.#origins = origins;
    this.#origin = this.#findOrigin();
    window.addEventListener('message', (event) => {
      if (event.source !== window.parent || !this.#origins.includes(event.origin)) return;
      const data = event.data as HostMessage | null;
      if (typeof data !== 'object' || data === null) return;
      if (data.type === 'pgs.host') {
        this.#origin = event.origin;
        listener.onHost(data.again === true, typeof data.lang === 'string' ? data.lang : null);
      } else if (data.type === 'pgs.session') {
        this.#origin = event.origin;
        this.#takeToken(data.sessionToken, listener);
      }
    });
  }

  #takeToken(token: unknown, listener: HostListener): void {
    if (typeof token === 'string' && token.length <= TOKEN_MAX && TOKEN.test(token)) {
      listener.onToken(token);
    } else {
      this.send({ type: 'pgs.error', reason: 'session_invalid' });
    }
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
