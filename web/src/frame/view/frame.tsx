import { useEffect, useState } from 'preact/hooks';
import { applyTheme } from '../../design/theme';
import type { Controller } from '../controller';
import type { Theme } from '../protocol';
import { logoAddress } from '../theme';
import { headline } from '../words';
import { MatchView } from './match';

interface FrameProps {
  controller: Controller;
  /** Whether there is a page around the frame. */
  framed: boolean;
}

export function Frame({ controller, framed }: FrameProps) {
  const [{ play, announced }, show] = useState(controller.published);
  useEffect(() => controller.subscribe(show), [controller]);
  const theme = play.session?.theme;
  useEffect(() => {
    if (theme === undefined) return;
    applyTheme(theme);
    if (theme.displayName) document.title = theme.displayName;
  }, [theme]);
  const { socket, match } = play;
  // Screen readers repeat a text only if it has changed: every second one ends with a space.
  const spoken = announced.text + (announced.count % 2 === 1 ? '\u00a0' : '');

  return (
    <main>
      <Header theme={theme} />
      <p class={`headline ${socket.kind}`}>
        {framed ? headline(play) : 'This game can only be played inside a partner’s page.'}
      </p>
      {match !== null && <MatchView play={play} match={match} controller={controller} />}
      {match === null && framed && socket.kind !== 'stopped' && (
        <div class="placeholder" aria-hidden="true" />
      )}
      {socket.kind === 'stopped' && socket.reason === 'session_replaced' && (
        <button type="button" class="button" onClick={() => controller.takeOver()}>
          Play here instead
        </button>
      )}
      <div class="visually-hidden" role="status" aria-live="polite" aria-atomic="true">
        {spoken}
      </div>
    </main>
  );
}

function Header({ theme }: { theme: Theme | undefined }) {
  const logo = logoAddress(theme);
  const name = theme?.displayName ?? '';
  if (logo === null && name === '') return null;
  return (
    <header>
      {logo !== null && <img src={logo} alt={name === '' ? 'Logo' : ''} />}
      {name !== '' && <h1>{name}</h1>}
    </header>
  );
}
