import { useRef } from 'preact/hooks';
import { go } from '../address';
import { Refused } from '../api';
import type { Api, Environment, Merge } from '../api';
import { BoldFirst, mayWrite, PageFrame, Problem, useAct, useReading } from '../page';
import type { PageProps } from '../page';
import { Button } from '../parts/button';
import { keep, useDraft } from '../parts/draft';
import type { Draft } from '../parts/draft';
import { SaveLine } from '../parts/field';
import { linkTo } from '../routes';
import {
  answerOf,
  changedFields,
  collisions,
  faultsOf,
  merged,
  shownTheme,
  themeOf,
} from '../words/themes';
import type { StoredTheme, Theme } from '../words/themes';
import { ThemeFields } from './theme-fields';
import { Preview } from './theme-preview';

/** Reads again before a second try, so that the try keeps fields that others have changed. */
function mergeOf(api: Api, path: string, base: Theme, mine: Theme): Merge {
  let theirs = base;
  return {
    async compare() {
      theirs = themeOf(await api.read<StoredTheme>(path));
      return collisions(base, theirs, mine);
    },
    body: () => merged(base, theirs, mine),
  };
}

/** The field that a refusal names, with its sentence. */
function refusedField(error: unknown): { field: string; says: string } | null {
  if (!(error instanceof Refused)) return null;
  if (error.reason.startsWith('logo_')) return { field: 'logo', says: error.message };
  const { parameter } = error.told;
  return error.reason === 'theme_field_invalid' && typeof parameter === 'string'
    ? { field: parameter, says: error.message.replace(/^Field `\w+`:?/, 'This field') }
    : null;
}

const nameOf = (environment: Environment) => `${environment}/theme`;

export default function ThemePage(props: PageProps) {
  const { api, environment } = props;
  const { value, error, readAgain } = useReading<StoredTheme>(api, `theme/${environment}`);
  const stored = value === null ? null : themeOf(value);
  const draft = useDraft<Theme | null>(nameOf(environment), stored);
  return (
    <PageFrame
      title="Theme"
      answer={
        draft.value !== null && <BoldFirst parts={answerOf(draft.value, environment)} />
      }
      error={error}
      loading={stored === null}
    >
      {stored !== null && draft.value !== null && (
        <Editor {...props} {...{ stored, draft, readAgain }} theme={draft.value} />
      )}
    </PageFrame>
  );
}

interface EditorProps extends PageProps {
  stored: Theme;
  theme: Theme;
  draft: Draft<Theme | null>;
  readAgain(): Promise<void>;
}

function Editor(props: EditorProps) {
  const { api, account, environment, tell, stored, theme, draft, readAgain } = props;
  const doing = useAct(readAgain);
  const form = useRef<HTMLFormElement>(null);
  const edits = mayWrite(account);
  const faults = faultsOf(theme);
  const sent = useRef(theme);
  const found = refusedField(doing.error);
  // Once the field has been changed, its value is no longer the one that was refused.
  const field = found?.field as keyof Theme;
  const stands = found !== null && sent.current[field] === theme[field];
  const refused = stands ? found : null;
  const changed = draft.dirty && changedFields(stored, theme).length > 0;
  const set = (changes: Partial<Theme>) => draft.set({ ...theme, ...changes });
  const save = () =>
    doing.act(async () => {
      sent.current = theme;
      const path = `theme/${environment}`;
      await api.write('save the theme', 'PUT', path, theme, mergeOf(api, path, stored, theme));
      // Read before the draft is dropped, so that no older version shows in between.
      await readAgain();
      draft.drop();
      tell('The theme is saved. Players see it when their frame loads next.');
    });
  const send = (event: Event) => {
    event.preventDefault();
    if (Object.keys(faults).length === 0) void save();
    else form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  };
  const shown = shownTheme(theme, stored);
  return (
    <>
      {found === null && <Problem error={doing.error} />}
      <div class="split themed">
        <Preview
          theme={shown}
          mended={shown.textColor !== theme.textColor ? shown.textColor : null}
        >
          {edits && <CopyOver environment={environment} theme={theme} />}
        </Preview>
        <form class="card" ref={form} onSubmit={send} noValidate>
          <ThemeFields {...{ theme, faults, refused, edits, set }} />
          {changed && edits && (
            <SaveLine unsaved={<span class="small quiet">Not saved yet</span>} onUndo={draft.drop}>
              <Button kind="pri" busy={doing.busy}>
                {doing.busy ? 'Saving …' : `Save ${environment} theme`}
              </Button>
            </SaveLine>
          )}
        </form>
      </div>
    </>
  );
}

/** Opens the other environment with this theme, so that it can be checked and saved there. */
function CopyOver({ environment, theme }: { environment: Environment; theme: Theme }) {
  const other: Environment = environment === 'test' ? 'live' : 'test';
  const press = () => {
    keep(nameOf(other), theme);
    go(linkTo(other, 'theme'));
  };
  return (
    <Button small onPress={press}>
      Take this theme to {other}
    </Button>
  );
}
