import { Icon } from '../../design/icon';
import type { IconName } from '../../design/icon';

interface ToolProps {
  icon: IconName;
  name: string;
  /** Whether it is switched on, for what can be. */
  pressed?: boolean;
  onPress(): void;
}

/** A small button without a text. */
export function Tool({ icon, name, pressed, onPress }: ToolProps) {
  return (
    <button
      type="button"
      class="tool"
      aria-pressed={pressed}
      aria-label={name}
      onClick={onPress}
    >
      <Icon name={icon} />
    </button>
  );
}
