import type { ComponentChildren } from 'preact';
import { Icon } from './icon';
import type { IconName } from './icon';

interface ButtonProps {
  /** `pri`: the main act. `no`: asks before a loss. `yes-bad`: causes the loss. */
  kind?: 'pri' | 'no' | 'yes-bad' | 'plain';
  small?: boolean;
  icon?: IconName;
  /**
   * Whether the act is under way. The button says so and ignores presses, but stays focusable: a
   * disabled button loses the focus, and a dialog that the act opens could not give it back.
   */
  busy?: boolean;
  disabled?: boolean;
  autofocus?: boolean;
  /** What follows the label for screen readers alone. */
  about?: string;
  /** Without it, the button submits its form. */
  onPress?(): void;
  children: ComponentChildren;
}

export function Button(props: ButtonProps) {
  const { kind, small, icon, busy = false, disabled = false, about, onPress, children } = props;
  const names = ['btn', kind, small ? 'sm' : ''].filter(Boolean).join(' ');
  const press = (event: Event) => {
    if (busy) event.preventDefault();
    else onPress?.();
  };
  return (
    <button
      type={onPress === undefined ? 'submit' : 'button'}
      class={names}
      aria-busy={busy}
      aria-disabled={busy}
      disabled={disabled}
      autofocus={props.autofocus ?? false}
      onClick={press}
    >
      {icon !== undefined && <Icon name={icon} />}
      <span>
        {children}
        {about !== undefined && <span class="unseen"> {about}</span>}
      </span>
    </button>
  );
}

interface LinkProps {
  href: string;
  kind?: 'pri' | 'no' | 'plain';
  small?: boolean;
  icon?: IconName;
  children: ComponentChildren;
}

/** A link that looks like a button. */
export function LinkButton({ href, kind, small, icon, children }: LinkProps) {
  return (
    <a href={href} class={['btn', kind, small ? 'sm' : ''].filter(Boolean).join(' ')}>
      {icon !== undefined && <Icon name={icon} />}
      <span>{children}</span>
    </a>
  );
}
