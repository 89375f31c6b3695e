import { useEffect, useState } from 'preact/hooks';
import { adapterOf } from '../boards';
import { PASS } from '../boards/grid';
import type { Controller } from '../controller';
import { mayMove, runs } from '../play';
import type { Match, Play } from '../play';
import { logoAddress, properties } from '../theme';
import type { Theme } from '../protocol';
import { headline } from '../words';
import { Grid } from './grid';
import { Player } from './player';

export function Frame({ controller, framed }: { controller: Controller; framed: boolean }) {
  const [{ play, said }, show] = useState(controller.published);
  useEffect(() => controller.watch(show), [controller]);
  const theme = play.session?.theme;
  useEffect(() => apply(theme), [theme]);
  const logo = logoAddress(theme);
  const name = theme?.displayName ?? '';

  return (
    <main>
      {(logo !== null || name !== '') && (
        <header>
          {logo !== null && <img src={logo} alt={name === '' ? 'Logo' : ''} />}
          {name !== '' && <h1>{name}</h1>}
        </header>
      )}
      <p class={`headline ${play.link.kind}`}>{framed ? headline(play) : 'This game is played inside the page of a partner.'}</p>
      {play.match !== null && <Table play={play} match={play.match} controller={controller} />}
      {play.match === null && framed && play.link.kind !== 'stopped' && <div class="placeholder" aria-hidden="true" />}
      {play.link.kind === 'stopped' && play.link.reason === 'session_replaced' && (
        <button type="button" class="button" onClick={() => controller.takeOver()}>
          Play here instead
        </button>
      )}
      <div class="unseen" role="status" aria-live="polite" aria-atomic="true">
        {/* A sentence that is said twice has to be another text, or it is not said again. */}
        {said.text + (said.nth % 2 === 1 ? '\u00a0' : '')}
      </div>
    </main>
  );
}

function Table({ play, match, controller }: { play: Play; match: Match; controller: Controller }) {
  const adapter = adapterOf(match.gameId);
  const board = adapter?.board(match.state, match.you, match.last?.move ?? null) ?? null;
  const other = match.you === 0 ? 1 : 0;
  const active = mayMove(play);
  if (adapter === null || board === null) return <p class="note">This game cannot be shown here. Please reload the page.</p>;
  const note = board.note ?? (play.ending === null && match.deadlineAtMs == null ? 'The clock starts when both players are here.' : null);
  return (
    <section class="table" aria-label={adapter.name}>
      <Player play={play} match={match} side={other} />
      <Grid
        key={match.matchId}
        adapter={adapter}
        board={board}
        legalMoves={match.legalMoves}
        active={active}
        pending={play.sent?.move ?? null}
        onMove={(move) => controller.move(move)}
      />
      <Player play={play} match={match} side={match.you} />
      {note !== null && <p class="note">{note}</p>}
      {active && match.legalMoves.includes(PASS) && (
        <button type="button" class="button" onClick={() => controller.move(PASS)}>
          No move: pass
        </button>
      )}
      {runs(play) && <Resign key={match.matchId} onResign={() => controller.resign()} />}
    </section>
  );
}

function Resign({ onResign }: { onResign(): void }) {
  const [asked, ask] = useState(false);
  if (!asked) {
    return (
      <button type="button" class="quiet" onClick={() => ask(true)}>
        Resign
      </button>
    );
  }
  return (
    <div class="choices" role="group" aria-label="Resign this match?">
      <button
        type="button"
        class="button"
        onClick={() => {
          ask(false);
          onResign();
        }}
      >
        Yes, resign
      </button>
      <button type="button" class="quiet" onClick={() => ask(false)}>
        Play on
      </button>
    </div>
  );
}

function apply(theme: Theme | undefined): void {
  if (theme === undefined) return;
  const { style } = document.documentElement;
  for (const [name, value] of Object.entries(properties(theme))) style.setProperty(name, value);
  if (theme.displayName) document.title = theme.displayName;
}
