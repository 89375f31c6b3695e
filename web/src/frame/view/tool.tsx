import { Icon } from '../../design/icon';
import type { IconName } from '../../design/icon';

interface ToolProps {
  icon: IconName;
  name: string;
  /** Whether the button is on; undefined for a button that switches nothing. */
  pressed?: boolean;
  /** Whether a press does nothing now. The button keeps the focus. */
  off?: boolean;
  onPress(): void;
}

/** A small button without a text. */
export function Tool({ icon, name, pressed, off, onPress }: ToolProps) {
  return (
    <button
      type="button"
      class="tool"
      aria-pressed={pressed}
      aria-disabled={off}
      aria-label={name}
      onClick={onPress}
    >
      <Icon name={icon} />
    </button>
  );
}
