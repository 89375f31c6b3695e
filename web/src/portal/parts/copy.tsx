import { useState } from 'preact/hooks';
import { Icon } from './icon';

interface CopyProps {
  text: string;
  /** What is copied, for screen readers. */
  what?: string;
  small?: boolean;
  /** The label of the button. */
  label?: string;
  onCopied?(): void;
}

/** A button that copies a text, and says whether that worked. */
export function Copy({ text, what = '', small = false, label = 'Copy', onCopied }: CopyProps) {
  const [said, say] = useState('');
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => {
        say('Copied');
        onCopied?.();
      },
      () => say('Select the text'),
    );
  return (
    <button type="button" class={small ? 'btn plain sm' : 'btn'} onClick={copy}>
      <Icon name={said === 'Copied' ? 'check' : 'copy'} />
      <span>
        <span role="status">{said}</span>
        {said === '' && label}
        <span class="unseen"> {what}</span>
      </span>
    </button>
  );
}

/** An id, with a button that copies it. */
export function Id({ id, what }: { id: string; what: string }) {
  return (
    <span class="id">
      <code>{id}</code>
      <Copy text={id} label="" what={`Copy ${what}`} small />
    </span>
  );
}

/** A call as text, with a button that copies it. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <div class="codebox">
      <pre tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
      <Copy text={text} what={label} small />
    </div>
  );
}
