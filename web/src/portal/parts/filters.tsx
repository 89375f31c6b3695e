/** The line of filters above a table. The address contains what is chosen. */

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** How long a search waits for the next letter, in milliseconds. */
const PAUSE_MS = 150;

interface SearchProps {
  label: string;
  hint: string;
  value: string;
  onSearch(text: string): void;
}

export function Search({ label, hint, value, onSearch }: SearchProps) {
  const [typed, type] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const sent = useRef(value);
  useEffect(() => {
    // The address was changed by something else: a filter was removed, or the browser went back.
    if (value !== sent.current) type(value);
    sent.current = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (text: string) => {
    type(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      sent.current = text;
      onSearch(text);
    }, PAUSE_MS);
  };
  return (
    <input
      class="in sm"
      type="search"
      aria-label={label}
      placeholder={hint}
      value={typed}
      onInput={(event) => change(event.currentTarget.value)}
    />
  );
}

interface ChoiceProps<Name extends string> {
  label: string;
  /** Each value and its label. */
  choices: readonly (readonly [Name, ComponentChildren])[];
  value: Name;
  onChoose(name: Name): void;
}

/** A few choices, of which exactly one is selected. */
export function Choice<Name extends string>(props: ChoiceProps<Name>) {
  const { label, choices, value, onChoose } = props;
  return (
    <div class="seg" role="group" aria-label={label}>
      {choices.map(([name, says]) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === value}
          onClick={() => onChoose(name)}
        >
          {says}
        </button>
      ))}
    </div>
  );
}

interface PickProps {
  label: string;
  choices: readonly (readonly [string, string])[];
  value: string;
  onChoose(name: string): void;
}

export function Pick({ label, choices, value, onChoose }: PickProps) {
  return (
    <select
      class="in sm"
      aria-label={label}
      value={value}
      onChange={(event) => onChoose(event.currentTarget.value)}
    >
      {choices.map(([name, says]) => (
        <option key={name} value={name}>
          {says}
        </option>
      ))}
    </select>
  );
}

interface DayProps {
  /** The text before the field. */
  label: string;
  /** `yyyymmdd`, or nothing. */
  value: string;
  wrong?: boolean;
  onChoose(day: string): void;
}

export function Day({ label, value, wrong = false, onChoose }: DayProps) {
  const shown = value === '' ? '' : `${value.slice(0, 4)}-${value.slice(4, 6)}-${value.slice(6)}`;
  return (
    <label class="day">
      {label}
      <input
        class="in sm"
        type="date"
        aria-invalid={wrong}
        value={shown}
        onChange={(event) => onChoose(event.currentTarget.value.replaceAll('-', ''))}
      />
    </label>
  );
}
