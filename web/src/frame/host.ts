/** The conversation with the page around the frame: exact origins both ways, and a token from nobody but the parent. */

export interface Settings {
  partnerId: string;
  environment: string;
  origins: string[];
}

/** The part of `window` that is needed here. */
export interface WindowLike {
  parent: { postMessage(message: unknown, origin: string): void };
  location: { ancestorOrigins?: ArrayLike<string> };
  document: { referrer: string };
  addEventListener(type: 'message', heard: (event: { source: unknown; origin: string; data: unknown }) => void): void;
}

/** Longer than any token that the service makes. */
const TOKEN_MAX = 4096;

/** Returns the settings that the service wrote into the document; empty ones for text that holds none. */
export function readSettings(text: string | null | undefined): Settings {
  try {
    const value = JSON.parse(text ?? '') as Partial<Settings>;
    const origins = Array.isArray(value.origins) ? value.origins.filter((origin) => typeof origin === 'string') : [];
    return { partnerId: String(value.partnerId ?? ''), environment: String(value.environment ?? ''), origins };
  } catch {
    return { partnerId: '', environment: '', origins: [] };
  }
}

export class Host {
  readonly #window: WindowLike;
  readonly #origins: readonly string[];
  #origin: string | null;

  constructor(window: WindowLike, origins: readonly string[], onToken: (token: string) => void) {
    this.#window = window;
    this.#origins = origins;
    this.#origin = this.#guess();
    window.addEventListener('message', (event) => {
      if (event.source !== window.parent || !this.#origins.includes(event.origin)) return;
      const data = event.data as { type?: unknown; sessionToken?: unknown } | null;
      if (typeof data !== 'object' || data === null || data.type !== 'pgs.session') return;
      this.#origin = event.origin;
      const token = data.sessionToken;
      // Exactly what may stand in a subprotocol's name.
      if (typeof token === 'string' && token.length <= TOKEN_MAX && /^[A-Za-z0-9\-._~]+$/.test(token)) onToken(token);
      else this.tell({ type: 'pgs.error', reason: 'session_invalid' });
    });
  }

  /** Whether there is a page around the frame at all. */
  get framed(): boolean {
    return this.#window.parent !== (this.#window as unknown);
  }

  /** Sends a message to the page around the frame, which must be of a registered origin. Where its origin is not known yet, each is tried. */
  tell(message: object): void {
    if (!this.framed) return;
    for (const origin of this.#origin === null ? this.#origins : [this.#origin]) this.#window.parent.postMessage(message, origin);
  }

  #guess(): string | null {
    const told = this.#window.location.ancestorOrigins?.[0] ?? originOf(this.#window.document.referrer);
    return told !== undefined && this.#origins.includes(told) ? told : null;
  }
}

function originOf(url: string): string | undefined {
  try {
    return new URL(url).origin;
  } catch {
    return undefined;
  }
}
