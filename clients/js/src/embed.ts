/** The embed helper of the service, typed, for plain pages and for React. It runs in browsers. */

/** The frame can take a session. */
export interface ReadyMessage {
  readonly type: 'pgs.ready';
}

/**
 * What the frame shows. `status`: no_seat, waiting, playing or ended. The other fields are null
 * while there is no match.
 */
export interface StateMessage {
  readonly type: 'pgs.state';
  readonly status: string;
  readonly matchId: string | null;
  readonly ply: number | null;
  readonly turn: number | null;
  readonly you: number | null;
}

/**
 * A match is over. `dueUsdCents` is what the player gets: the prize, the stake back, or 0. Take
 * results from the feed: a player can forge this message.
 */
export interface EndedMessage {
  readonly type: 'pgs.ended';
  readonly matchId: string;
  readonly outcome: string;
  readonly result: string | null;
  readonly endReason: string;
  readonly dueUsdCents: number;
}

/** The player wants another match: take a new paid seat. */
export interface AgainMessage {
  readonly type: 'pgs.again';
}

/** Something went wrong. Later versions may add reasons. */
export interface ErrorMessage {
  readonly type: 'pgs.error';
  readonly reason: string;
}

/** What your backend has minted. */
export interface EmbedSession {
  readonly embedUrl: string;
  readonly sessionToken: string;
}

/**
 * The options of `PgsEmbed.mount`. Give `session`, or `embedUrl` and `sessionToken`. With `onAgain`
 * the frame offers another match after one has ended.
 */
export interface EmbedOptions {
  session?: () => EmbedSession | Promise<EmbedSession>;
  embedUrl?: string;
  sessionToken?: string;
  title?: string;
  height?: string;
  lang?: string;
  onReady?: (message: ReadyMessage) => void;
  onState?: (message: StateMessage) => void;
  onEnded?: (message: EndedMessage) => void;
  onAgain?: (message: AgainMessage) => void;
  onError?: (message: ErrorMessage) => void;
}

/** A frame in the page. `setSessionToken` gives it a new token, `unmount` removes it. */
export interface MountedFrame {
  readonly iframe: HTMLIFrameElement;
  setSessionToken(token: string): void;
  unmount(): void;
}

/** The helper, which the service serves as `/embed/pgs-embed.js`. */
export interface PgsEmbed {
  mount(element: Element, options: EmbedOptions): MountedFrame;
}

declare global {
  interface Window {
    PgsEmbed?: PgsEmbed;
  }
}

const loading = new Map<string, Promise<PgsEmbed>>();

/** Loads the helper from the service, once for each address. Rejects if it cannot be loaded. */
export function loadEmbed(serviceUrl: string): Promise<PgsEmbed> {
  const address = new URL('/embed/pgs-embed.js', serviceUrl).href;
  let loaded = loading.get(address);
  if (loaded === undefined) {
    loaded = insert(address);
    loading.set(address, loaded);
    // The next call tries again.
    loaded.catch(() => loading.delete(address));
  }
  return loaded;
}

function insert(address: string): Promise<PgsEmbed> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = address;
    script.onload = () => {
      if (window.PgsEmbed) resolve(window.PgsEmbed);
      else reject(new Error(`${address} defines no PgsEmbed`));
    };
    script.onerror = () => {
      script.remove();
      reject(new Error(`${address} cannot be loaded`));
    };
    document.head.append(script);
  });
}

/** The properties of the React component. A new `serviceUrl` or `embedUrl` mounts a new frame. */
export interface GameFrameProps extends EmbedOptions {
  serviceUrl: string;
  className?: string;
}

/** The part of React that the component uses; React and Preact both fit. */
export interface ReactLike<E> {
  createElement(
    type: 'div',
    props: { ref: { current: HTMLDivElement | null }; className?: string },
  ): E;
  useEffect(effect: () => () => void, dependencies: readonly unknown[]): void;
  useRef<T>(initial: T): { current: T };
}

/**
 * Returns a component that shows the frame: `const GameFrame = makeGameFrame(React)`.
 *
 * Handlers may change with every render. The frame keeps its match while they do.
 */
export function makeGameFrame<E>(react: ReactLike<E>): (props: GameFrameProps) => E {
  return function GameFrame(props: GameFrameProps): E {
    const place = react.useRef<HTMLDivElement | null>(null);
    const latest = react.useRef(props);
    const frame = react.useRef<MountedFrame | null>(null);
    latest.current = props;
    react.useEffect(() => {
      let gone = false;
      loadEmbed(props.serviceUrl).then(
        (helper) => {
          if (gone || place.current === null) return;
          frame.current = helper.mount(place.current, optionsOf(latest));
        },
        () => {
          if (!gone) latest.current.onError?.({ type: 'pgs.error', reason: 'helper_not_loaded' });
        },
      );
      return () => {
        gone = true;
        frame.current?.unmount();
        frame.current = null;
      };
    }, [props.serviceUrl, props.embedUrl]);
    react.useEffect(() => {
      if (props.sessionToken !== undefined) frame.current?.setSessionToken(props.sessionToken);
      return () => undefined;
    }, [props.sessionToken]);
    return react.createElement('div', {
      ref: place,
      ...(props.className === undefined ? {} : { className: props.className }),
    });
  };
}

/** Returns options whose functions always call those of the latest render. */
function optionsOf(latest: { current: GameFrameProps }): EmbedOptions {
  const { session, embedUrl, sessionToken, title, height, lang, onAgain } = latest.current;
  return {
    ...(session === undefined ? {} : { session: () => (latest.current.session ?? session)() }),
    ...(embedUrl === undefined ? {} : { embedUrl }),
    ...(sessionToken === undefined ? {} : { sessionToken }),
    ...(title === undefined ? {} : { title }),
    ...(height === undefined ? {} : { height }),
    ...(lang === undefined ? {} : { lang }),
    // The frame offers another match if this function is there when it is mounted.
    ...(onAgain === undefined
      ? {}
      : { onAgain: (message: AgainMessage) => (latest.current.onAgain ?? onAgain)(message) }),
    onReady: (message) => latest.current.onReady?.(message),
    onState: (message) => latest.current.onState?.(message),
    onEnded: (message) => latest.current.onEnded?.(message),
    onError: (message) => latest.current.onError?.(message),
  };
}
