/** The fields of a theme. */

import { useId, useState } from 'preact/hooks';
import { isColour } from '../../design/colour';
import { LOGO_BYTES_MAX, LOGO_SIDE_MAX, NAME_MAX, RADIUS_MAX } from '../parts/bounds';
import { Button } from '../parts/button';
import { Field } from '../parts/field';
import { Icon } from '../parts/icon';
import { base64Of, faultOfLogo } from '../words/themes';
import type { Fault, Theme } from '../words/themes';

interface FieldsProps {
  theme: Theme;
  faults: Partial<Record<keyof Theme, Fault>>;
  /** The field that the service has refused. */
  refused: { field: string; says: string } | null;
  edits: boolean;
  set(changes: Partial<Theme>): void;
}

type Colour = 'primaryColor' | 'backgroundColor' | 'textColor';

const COLOURS: readonly (readonly [Colour, string, string])[] = [
  ['primaryColor', 'Primary', 'Buttons and the player’s own pieces. Text on it is black or white.'],
  ['backgroundColor', 'Background', ''],
  ['textColor', 'Text', ''],
];

export function ThemeFields({ theme, faults, refused, edits, set }: FieldsProps) {
  const saysOf = (name: string) => (refused?.field === name ? refused.says : undefined);
  return (
    <fieldset class="in-card stack" disabled={!edits}>
      <legend class="unseen">The theme</legend>
      <Field
        label="Name on the frame"
        help="Empty: no name is shown."
        value={theme.displayName}
        maxLength={NAME_MAX}
        error={saysOf('displayName')}
        onInput={(event) => set({ displayName: event.currentTarget.value })}
      />
      {COLOURS.map(([name, label, help]) => (
        <ColourField
          key={name}
          {...{ label, help }}
          value={theme[name]}
          fault={faults[name] ?? null}
          refused={saysOf(name)}
          onSet={(colour) => set({ [name]: colour })}
        />
      ))}
      <Corners value={theme.cornerRadius} onSet={(cornerRadius) => set({ cornerRadius })} />
      <LogoField theme={theme} refused={saysOf('logo')} set={set} />
      <label class="check">
        <input
          type="checkbox"
          checked={theme.showAmounts}
          onChange={(event) => set({ showAmounts: event.currentTarget.checked })}
        />
        <span>Show stakes and prizes in the frame</span>
      </label>
    </fieldset>
  );
}

interface ColourProps {
  label: string;
  help: string;
  value: string;
  fault: Fault | null;
  refused: string | undefined;
  onSet(colour: string): void;
}

function ColourField({ label, help, value, fault, refused, onSet }: ColourProps) {
  const id = useId();
  const says = fault?.says ?? refused;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="colour">
        <input
          type="color"
          class="in"
          aria-label={`Pick ${label.toLowerCase()}`}
          value={isColour(value) ? value.toLowerCase() : '#000000'}
          onInput={(event) => onSet(event.currentTarget.value.toUpperCase())}
        />
        <input
          id={id}
          class="in mono"
          value={value}
          maxLength={7}
          spellcheck={false}
          autocomplete="off"
          aria-invalid={says !== undefined}
          aria-describedby={`${id}-said`}
          onInput={(event) => onSet(event.currentTarget.value.trim())}
        />
      </div>
      <div id={`${id}-said`} role={says === undefined ? undefined : 'alert'}>
        {says === undefined ? (
          help !== '' && <small>{help}</small>
        ) : (
          <span class="err">
            <Icon name="no" />
            <span>{says}</span>
            {fault !== null && fault.mended !== null && (
              <Button small onPress={() => onSet(fault.mended ?? value)}>
                Use {fault.mended}
              </Button>
            )}
          </span>
        )}
      </div>
    </div>
  );
}

function Corners({ value, onSet }: { value: number; onSet(value: number): void }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>Corners, {value} pixels</label>
      <input
        id={id}
        type="range"
        min={0}
        max={RADIUS_MAX}
        value={value}
        onInput={(event) => onSet(Number(event.currentTarget.value))}
      />
    </div>
  );
}

interface LogoProps {
  theme: Theme;
  refused: string | undefined;
  set(changes: Partial<Theme>): void;
}

function LogoField({ theme, refused, set }: LogoProps) {
  const id = useId();
  const [fault, setFault] = useState<string | null>(null);
  const take = async (field: HTMLInputElement) => {
    const file = field.files?.[0];
    if (file === undefined) return;
    const wrong = await faultOfLogo(file);
    setFault(wrong);
    if (wrong === null) set({ logo: { mime: file.type, base64: await base64Of(file) } });
    field.value = '';
  };
  const says = fault ?? refused ?? null;
  return (
    <div class="field">
      <label for={id}>Logo</label>
      <div class="row">
        {theme.logo !== null && (
          <>
            <img
              class="logo"
              alt="The logo"
              src={`data:${theme.logo.mime};base64,${theme.logo.base64}`}
            />
            <Button small onPress={() => set({ logo: null })}>
              Take it away
            </Button>
          </>
        )}
        <input
          id={id}
          class="in"
          type="file"
          accept="image/png,image/webp"
          aria-describedby={`${id}-said`}
          onChange={(event) => void take(event.currentTarget)}
        />
      </div>
      <div id={`${id}-said`} role={says === null ? undefined : 'alert'}>
        {says === null ? (
          <small>
            PNG or WebP, at most {LOGO_BYTES_MAX / 1024} KB and{' '}
            {`${LOGO_SIDE_MAX} by ${LOGO_SIDE_MAX} pixels`}.
          </small>
        ) : (
          <span class="err">
            <Icon name="no" />
            <span>{says}</span>
          </span>
        )}
      </div>
    </div>
  );
}
