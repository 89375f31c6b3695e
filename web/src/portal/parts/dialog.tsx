/** Dialogs: the frame of each, a question before a loss, a secret that is shown once. */

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Environment } from '../api';
import { Button } from './button';
import { Copy } from './copy';
import { useHeld } from './draft';
import { Icon } from './icon';
import type { IconName } from './icon';
import { Note } from './note';

interface DialogProps {
  title: string;
  /** The environment in which it acts. None: the whole account. */
  environment?: Environment | undefined;
  onLeave(): void;
  /** The buttons, the main one last. */
  foot?: ComponentChildren;
  children: ComponentChildren;
}

export const ROOMS = {
  test: 'Test. Play money.',
  live: 'Live. Real players, real money.',
  account: 'Whole account. Counts in test and in live.',
} as const;

/** Opens a dialog over the page. When it closes, the focus returns to where it was. */
export function useModal() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    dialog.current?.showModal();
    return () => before?.focus?.();
  }, []);
  return dialog;
}

/** A dialog over the page. Escape closes it; then the focus returns to where it was. */
export function Dialog({ title, environment, onLeave, foot, children }: DialogProps) {
  const dialog = useModal();
  const id = useId();
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      data-env={environment ?? 'account'}
      onCancel={(event) => {
        event.preventDefault();
        onLeave();
      }}
    >
      <p class="edge">{ROOMS[environment ?? 'account']}</p>
      <div class="body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
      {foot !== undefined && <div class="foot">{foot}</div>}
    </dialog>
  );
}

export interface Will {
  icon: IconName;
  tone?: 'bad' | 'warn' | 'good';
  says: ComponentChildren;
}

interface QuestionProps {
  title: string;
  environment?: Environment | undefined;
  /** What will happen, as text or as one line for each effect. */
  children?: ComponentChildren;
  will?: readonly Will[];
  /** A choice to make, shown above what will happen. */
  before?: ComponentChildren;
  /** The label of the button that does it. */
  act: string;
  /** The label of the button that cancels. */
  leave?: string;
  /** A word to type first. Only for acts that end play. */
  word?: string;
  onAct(): void;
  onLeave(): void;
}

/** Asks once before an act that takes something away. The safe button has the focus. */
export function Question(props: QuestionProps) {
  const { title, environment, children, will, act, leave = 'Leave it', word } = props;
  const [typed, type] = useState('');
  const [wrong, tellWrong] = useState(false);
  const id = useId();
  const press = () => {
    if (word === undefined || typed.trim() === word) props.onAct();
    else tellWrong(true);
  };
  const foot = (
    <>
      <Button autofocus onPress={props.onLeave}>
        {leave}
      </Button>
      <Button kind="yes-bad" onPress={press}>
        {act}
      </Button>
    </>
  );
  return (
    <Dialog title={title} environment={environment} onLeave={props.onLeave} foot={foot}>
      {children !== undefined && <p>{children}</p>}
      {props.before}
      {will !== undefined && <WillHappen lines={will} />}
      {word !== undefined && (
        <div class="field">
          <label for={id}>
            Type <code>{word}</code> to go on
          </label>
          <input
            id={id}
            class="in mono"
            autocomplete="off"
            value={typed}
            aria-invalid={wrong}
            aria-describedby={`${id}-said`}
            onInput={(event) => type(event.currentTarget.value)}
          />
          <span id={`${id}-said`} class="err" role="alert">
            {wrong && `The word is ${word}.`}
          </span>
        </div>
      )}
    </Dialog>
  );
}

export function WillHappen({ lines }: { lines: readonly Will[] }) {
  return (
    <ul class="will">
      {lines.map(({ icon, tone = '', says }, index) => (
        <li key={index}>
          <Icon name={icon} tone={tone} />
          <span>{says}</span>
        </li>
      ))}
    </ul>
  );
}

interface ShownOnceProps {
  title: string;
  environment?: Environment | undefined;
  secret: string;
  /** Where to store it. */
  children: ComponentChildren;
  onStored(): void;
}

/** A secret, once. Only the button closes it, so that the secret is not lost by a slip. */
export function ShownOnce({ title, environment, secret, children, onStored }: ShownOnceProps) {
  useHeld(true);
  const foot = (
    <Button kind="pri" onPress={onStored}>
      I have stored it
    </Button>
  );
  return (
    <Dialog title={title} environment={environment} onLeave={() => {}} foot={foot}>
      <Secret secret={secret} />
      <Note tone="warn">
        <strong>Shown only once.</strong> {children}
      </Note>
    </Dialog>
  );
}

export function Secret({ secret, onCopied }: { secret: string; onCopied?: () => void }) {
  return (
    <div class="secret">
      <code>{secret}</code>
      <Copy text={secret} {...(onCopied === undefined ? {} : { onCopied })} />
    </div>
  );
}
