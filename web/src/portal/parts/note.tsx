/** Parts that show a state: a tag beside a word, a note of a sentence, an empty page. */

import type { ComponentChildren } from 'preact';
import { Icon } from './icon';
import type { IconName } from './icon';

export type Tone = 'good' | 'warn' | 'bad' | 'plain' | 'test' | 'live';

const ICONS: Record<Tone, IconName> = {
  good: 'ok',
  warn: 'warn',
  bad: 'no',
  plain: 'info',
  test: 'todo',
  live: 'todo',
};

/** Tones whose tag has no icon: an environment has a dot instead. */
const MARKED: ReadonlySet<Tone> = new Set(['plain', 'test', 'live']);

interface TagProps {
  tone?: Tone;
  icon?: IconName;
  children: ComponentChildren;
}

export function Tag({ tone = 'plain', icon, children }: TagProps) {
  const shown = icon ?? (MARKED.has(tone) ? undefined : ICONS[tone]);
  return (
    <span class={`tag is-${tone}`}>
      {tone === 'test' && <i class="dot" />}
      {tone === 'live' && <i class="dot on" />}
      {shown !== undefined && <Icon name={shown} />}
      {children}
    </span>
  );
}

interface NoteProps extends TagProps {
  /** Says it at once to screen readers. */
  alert?: boolean;
  /** At most one button. */
  act?: ComponentChildren;
}

export function Note({ tone = 'plain', icon, alert = false, act, children }: NoteProps) {
  return (
    <div class={`note is-${tone}`} role={alert ? 'alert' : undefined}>
      <Icon name={icon ?? ICONS[tone]} />
      <div>{children}</div>
      {act}
    </div>
  );
}

interface EmptyProps {
  icon: IconName;
  title: string;
  /** What the thing is for. */
  children: ComponentChildren;
  acts?: ComponentChildren;
}

/** A list without entries. It teaches what an entry is for. */
export function Empty({ icon, title, children, acts }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      <p>{children}</p>
      {acts !== undefined && <div class="row">{acts}</div>}
    </div>
  );
}
