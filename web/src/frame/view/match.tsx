import { useState } from 'preact/hooks';
import { adapterOf } from '../boards';
import { PASS } from '../boards/cells';
import type { Controller } from '../controller';
import { isRunning, mayMove } from '../play';
import type { Match, Play } from '../play';
import { Grid } from './grid';
import { Player } from './player';

interface MatchViewProps {
  play: Play;
  match: Match;
  controller: Controller;
}

/** One match: both players, the board between them, and what the player can do. */
export function MatchView({ play, match, controller }: MatchViewProps) {
  const adapter = adapterOf(match.gameId);
  const board = adapter?.board(match.state, match.you, match.lastMove?.move ?? null) ?? null;
  if (adapter === null || board === null) {
    return <p class="note">This game cannot be shown here. Please reload the page.</p>;
  }
  const active = mayMove(play);
  const note = board.note ?? clockNote(play, match);
  return (
    <section class="match" aria-label={adapter.name}>
      <Player play={play} match={match} side={match.you === 0 ? 1 : 0} />
      <Grid
        key={match.matchId}
        adapter={adapter}
        board={board}
        legalMoves={match.legalMoves}
        active={active}
        pending={play.pendingMove?.move ?? null}
        onMove={(move) => controller.move(move)}
      />
      <Player play={play} match={match} side={match.you} />
      {note !== null && <p class="note">{note}</p>}
      {active && match.legalMoves.includes(PASS) && (
        <button type="button" class="button" onClick={() => controller.move(PASS)}>
          No legal move: pass
        </button>
      )}
      {isRunning(play) && <Resign key={match.matchId} onResign={() => controller.resign()} />}
    </section>
  );
}

function clockNote(play: Play, match: Match): string | null {
  const stands = play.ending === null && match.deadlineAtMs == null;
  return stands ? 'The clock starts when both players are here.' : null;
}

function Resign({ onResign }: { onResign(): void }) {
  const [asking, setAsking] = useState(false);
  if (!asking) {
    return (
      <button type="button" class="quiet" onClick={() => setAsking(true)}>
        Resign
      </button>
    );
  }
  const confirm = (): void => {
    setAsking(false);
    onResign();
  };
  return (
    <div class="choices" role="group" aria-label="Resign this match?">
      <button type="button" class="button" onClick={confirm}>
        Yes, resign
      </button>
      <button type="button" class="quiet" onClick={() => setAsking(false)}>
        Keep playing
      </button>
    </div>
  );
}
