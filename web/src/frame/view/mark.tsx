import type { Mark } from '../boards/types';

/** Variation selector 15, "text": without it, some systems draw the chess pawn as an emoji. */
const AS_TEXT = '\uFE0E';

/** Draws the mark on a cell. Screen readers do not see it: they say the label of its cell. */
export function MarkView({ mark: { shape, side } }: { mark: Mark }) {
  if (shape === 'disc') return <span class={`disc side${side}`} aria-hidden="true" />;
  if (shape === 'x' || shape === 'o') {
    return (
      <svg class={`mark side${side}`} viewBox="0 0 100 100" aria-hidden="true">
        {shape === 'x' ? <path d="M24 24 76 76M76 24 24 76" /> : <circle cx="50" cy="50" r="29" />}
      </svg>
    );
  }
  return (
    <span class={`piece side${side}`} aria-hidden="true">
      {shape.glyph + AS_TEXT}
    </span>
  );
}
