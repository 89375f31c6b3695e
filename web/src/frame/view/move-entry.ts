import { useEffect, useState } from 'preact/hooks';
import type { Adapter } from '../boards/types';

export interface MoveEntry {
  /** The cell of the piece that the player has picked up, or null. */
  picked: string | null;
  /** The moves between which the player must choose; empty while there is nothing to choose. */
  choices: string[];
  /** Returns whether a press on a cell plays a move now. */
  isTarget(cellId: string): boolean;
  /** Returns whether a press on a cell does anything now. */
  isPlayable(cellId: string): boolean;
  press(cellId: string): void;
  /** Picks a piece up, if the player may move it. Returns whether it is held now. */
  pick(cellId: string): boolean;
  /** Puts the piece down and drops the choice. */
  cancel(): void;
}

interface Options {
  adapter: Adapter;
  legalMoves: readonly string[];
  /** Whether the player may move now. */
  active: boolean;
  onMove(move: string): void;
  /** Is called for a press that does nothing. */
  onRefuse(): void;
}

/** Turns presses on cells into moves. */
export function useMoveEntry({
  adapter,
  legalMoves,
  active,
  onMove,
  onRefuse,
}: Options): MoveEntry {
  const [pressed, setPicked] = useState<string | null>(null);
  const [asked, setChoices] = useState<string[]>([]);
  useEffect(() => setChoices([]), [legalMoves]);

  const moves = active ? legalMoves : [];
  const sources = adapter.sources?.(moves) ?? new Set<string>();
  const picked = pressed !== null && sources.has(pressed) ? pressed : null;
  const targets = adapter.targets(moves, picked);
  const choices = asked.filter((move) => moves.includes(move));

  const press = (cellId: string): void => {
    if (!active) {
      onRefuse();
      return;
    }
    const meant = targets.get(cellId) ?? [];
    setChoices(meant.length > 1 ? meant : []);
    if (meant.length > 1) return;
    const move = meant[0];
    const picksUp = move === undefined && sources.has(cellId) && cellId !== picked;
    if (move === undefined && !picksUp && picked === null) onRefuse();
    setPicked(picksUp ? cellId : null);
    if (move !== undefined) onMove(move);
  };

  return {
    pick(cellId) {
      if (sources.has(cellId)) setPicked(cellId);
      return sources.has(cellId);
    },
    picked,
    choices: choices.length > 1 ? choices : [],
    isTarget: (cellId) => targets.has(cellId),
    isPlayable: (cellId) => targets.has(cellId) || sources.has(cellId),
    press,
    cancel() {
      setPicked(null);
      setChoices([]);
    },
  };
}
