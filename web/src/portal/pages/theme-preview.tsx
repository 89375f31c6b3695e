/** The frame beside its theme, with a match that nobody plays. */

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Choice } from '../parts/filters';
import type { Theme } from '../words/themes';

type Moment = 'waiting' | 'playing' | 'won';

const MOMENTS: readonly (readonly [Moment, string])[] = [
  ['waiting', 'Waiting'],
  ['playing', 'Playing'],
  ['won', 'Won'],
];

/** The theme as the frame takes it: the address of its logo holds the whole image. */
function framed(theme: Theme) {
  const { logo } = theme;
  const url = logo === null ? null : `data:${logo.mime};base64,${logo.base64}`;
  return { ...theme, logo: logo === null ? null : { mime: logo.mime, url } };
}

interface PreviewProps {
  theme: Theme;
  /** The text colour that is shown instead of one that cannot be read, or null. */
  mended: string | null;
  children: ComponentChildren;
}

export function Preview({ theme, mended, children }: PreviewProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [ready, setReady] = useState(false);
  const [moment, choose] = useState<Moment>('playing');
  useEffect(() => {
    const hear = (event: MessageEvent) => {
      const from = event.source === frame.current?.contentWindow;
      if (from && event.data?.type === 'pgs.preview.ready') setReady(true);
    };
    addEventListener('message', hear);
    return () => removeEventListener('message', hear);
  }, []);
  const told = JSON.stringify(framed(theme));
  useEffect(() => {
    if (!ready) return;
    const message = { type: 'pgs.preview', theme: JSON.parse(told), moment };
    frame.current?.contentWindow?.postMessage(message, location.origin);
  }, [ready, told, moment]);
  return (
    <section class="stack" aria-label="Preview">
      <div class="row">
        <h2 class="grow">Preview</h2>
        <Choice<Moment>
          label="Moment"
          choices={MOMENTS}
          value={moment}
          onChoose={(name) => choose(name)}
        />
      </div>
      <iframe
        ref={frame}
        class="preview"
        src="/portal/preview"
        title="The frame with this theme"
      />
      {mended !== null && (
        <p class="small">
          <strong>Shown with {mended}</strong>, the nearest text colour that can be read.
        </p>
      )}
      <div class="row small quiet">
        <span>The real frame, with a match that nobody plays. It follows every change.</span>
        {children}
      </div>
    </section>
  );
}
