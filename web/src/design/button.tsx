import type { ComponentChildren, Ref } from 'preact';
import { Icon } from './icon';
import type { IconName } from './icon';

interface ButtonProps {
  /** `pri`: the likely next action. `out`: one that gives a match up. `bare`: one that can wait. */
  kind?: 'pri' | 'out' | 'bare';
  icon?: IconName;
  disabled?: boolean;
  focus?: Ref<HTMLButtonElement>;
  onPress(): void;
  children: ComponentChildren;
}

export function Button({ kind, icon, disabled = false, focus, onPress, children }: ButtonProps) {
  return (
    <button
      type="button"
      class={kind === undefined ? 'btn' : `btn ${kind}`}
      disabled={disabled}
      ref={focus ?? null}
      onClick={onPress}
    >
      {icon !== undefined && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  );
}
