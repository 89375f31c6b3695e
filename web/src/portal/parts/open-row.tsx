interface OpenRowProps {
  open: boolean;
  /** The row, for screen readers. */
  about: string;
  onPress(): void;
}

/** The button of a row that opens in place. */
export function OpenRow({ open, about, onPress }: OpenRowProps) {
  return (
    <button type="button" class="btn sm" aria-expanded={open} onClick={onPress}>
      {open ? 'Close' : 'Open'} <span class="unseen">{about}</span>
    </button>
  );
}
