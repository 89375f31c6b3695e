import type { Mark } from '../boards/types';

// The text variant, so that no system draws the pawn as an emoji.
const GLYPHS: Record<string, string> = { k: '♚', q: '♛', r: '♜', b: '♝', n: '♞', p: '♟' };

/** One mark on a cell. It is read out with its cell, so it is hidden from screen readers. */
export function MarkView({ mark }: { mark: Mark }) {
  if (mark.shape === 'x' || mark.shape === 'o') {
    return (
      <svg class={`mark side${mark.side}`} viewBox="0 0 100 100" aria-hidden="true">
        {mark.shape === 'x' ? <path d="M24 24 76 76M76 24 24 76" /> : <circle cx="50" cy="50" r="29" />}
      </svg>
    );
  }
  if (mark.shape === 'disc') return <span class={`disc side${mark.side}`} aria-hidden="true" />;
  return (
    <span class={`piece side${mark.side}`} aria-hidden="true">
      {GLYPHS[mark.shape]}
      {'\uFE0E'}
    </span>
  );
}
