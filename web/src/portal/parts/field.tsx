import { useId } from 'preact/hooks';
import type { ComponentChildren, PartialInputHTMLAttributes } from 'preact';
import { Icon } from './icon';

type Shared =
  | 'autocomplete'
  | 'autofocus'
  | 'defaultValue'
  | 'disabled'
  | 'inputMode'
  | 'maxLength'
  | 'onBlur'
  | 'onInput'
  | 'placeholder'
  | 'ref'
  | 'required'
  | 'spellcheck'
  | 'value';

interface FieldProps extends Pick<PartialInputHTMLAttributes<HTMLInputElement>, Shared> {
  type?: 'text' | 'email' | 'search' | 'date';
  label: ComponentChildren;
  /** What helps to fill it in. */
  help?: ComponentChildren;
  /** What to enter instead, or nothing if the value is right. */
  error?: ComponentChildren;
  /** Further classes of the input. */
  look?: string;
}

/** A field with its label, its help and its error. */
export function Field({ label, help, error, look = '', type = 'text', ...input }: FieldProps) {
  const id = useId();
  const wrong = error !== undefined && error !== null && error !== '';
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...input}
        type={type as 'text'}
        id={id}
        class={`in ${look}`}
        aria-invalid={wrong}
        aria-describedby={`${id}-said`}
      />
      <div id={`${id}-said`} role={wrong ? 'alert' : undefined}>
        {wrong ? (
          <span class="err">
            <Icon name="no" />
            <span>{error}</span>
          </span>
        ) : (
          help !== undefined && <small>{help}</small>
        )}
      </div>
    </div>
  );
}

interface SaveLineProps {
  /** What is not saved yet, or null if all is. */
  unsaved: ComponentChildren | null;
  onUndo(): void;
  /** The button that saves. */
  children: ComponentChildren;
}

/** The line under a form whose work is not saved yet. */
export function SaveLine({ unsaved, onUndo, children }: SaveLineProps) {
  if (unsaved === null) return null;
  return (
    <div class="save">
      <span role="status">{unsaved}</span>
      <button type="button" class="btn" onClick={onUndo}>
        Undo
      </button>
      {children}
    </div>
  );
}
