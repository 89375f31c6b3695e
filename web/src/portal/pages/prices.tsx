import { useRef, useState } from 'preact/hooks';
import type { Api, Environment, Merge } from '../api';
import { BoldFirst, mayRule, PageFrame, Problem, useAct, useReading } from '../page';
import type { PageProps } from '../page';
import { Button } from '../parts/button';
import { useDraft } from '../parts/draft';
import { SaveLine } from '../parts/field';
import { dollars, many } from '../parts/format';
import { Icon } from '../parts/icon';
import { Empty, Note } from '../parts/note';
import { Table } from '../parts/table';
import type { Column } from '../parts/table';
import {
  answerOf,
  changedOf,
  collisions,
  entryOf,
  faultOf,
  isStale,
  placeOf,
  plain,
  pricesOf,
  rakeOf,
  shownOf,
} from '../words/prices';
import type { Tier, Typed } from '../words/prices';

interface Tiers {
  tiers: Tier[];
}

/** Reads again before a second try, so that the try keeps what others have set meanwhile. */
function mergeOf(api: Api, path: string, were: readonly Tier[], typed: Typed): Merge {
  let now = were;
  return {
    async compare() {
      now = (await api.read<Tiers>(path)).tiers;
      return collisions(were, now, typed);
    },
    body: () => ({ prices: pricesOf(now, typed) }),
  };
}

function usePrices({ api, environment, tell }: PageProps) {
  const path = `tiers?environment=${environment}`;
  const { value, error, readAgain } = useReading<Tiers>(api, path);
  const doing = useAct(readAgain);
  const draft = useDraft<Typed>(`${environment}/prices`, {});
  const tiers = value?.tiers ?? [];
  const save = () =>
    doing.act(async () => {
      const body = { prices: pricesOf(tiers, draft.value) };
      const merge = mergeOf(api, path, tiers, draft.value);
      await api.write('save the prices', 'PUT', `prices/${environment}`, body, merge);
      // Read before the draft is dropped, so that no older version shows in between.
      await readAgain();
      draft.drop();
      tell(`The ${environment} prices are saved.`);
    });
  return { value, error, tiers, draft, doing, save };
}

export default function Prices(props: PageProps) {
  const { account, environment } = props;
  const { value, error, tiers, draft, doing, save } = usePrices(props);
  const form = useRef<HTMLFormElement>(null);
  const typed = draft.value;
  const edits = mayRule(account);
  const send = (event: Event) => {
    event.preventDefault();
    if (tiers.every((tier) => faultOf(tier, typed) === null)) void save();
    else form.current?.querySelector<HTMLInputElement>('[aria-invalid=true]')?.focus();
  };
  const set = (tierId: string, text: string) => draft.set({ ...typed, [tierId]: text });
  return (
    <PageFrame
      title="Prices"
      answer={<BoldFirst parts={answerOf(tiers, environment)} />}
      error={error}
      loading={value === null}
    >
      <Problem error={doing.error} />
      {tiers.length === 0 ? (
        <section class="card">
          <Empty icon="tag" title="Prices come after tiers">
            A tier is a floor and a prize that the platform sets. Between the two you choose what a
            seat costs; both stakes less the prize are the rake.
          </Empty>
        </section>
      ) : (
        <form class="card" ref={form} onSubmit={send} noValidate>
          <Table
            label="Prices by tier"
            columns={columnsOf({ environment, typed, edits, set })}
            rows={tiers}
            keyOf={(tier) => tier.tierId}
          />
          {edits && (
            <Unsaved {...{ tiers, typed, environment }} busy={doing.busy} onUndo={draft.drop} />
          )}
        </form>
      )}
      {tiers.length > 0 && (
        <Note>
          Your server sends the price with every seat.{' '}
          <strong>Change it on your server when you save it here:</strong> a seat at another amount
          is refused with{' '}
          <code>stake_does_not_match_price</code>. Seats that are taken keep theirs.
        </Note>
      )}
    </PageFrame>
  );
}

interface UnsavedProps {
  tiers: readonly Tier[];
  typed: Typed;
  environment: Environment;
  busy: boolean;
  onUndo(): void;
}

function Unsaved({ tiers, typed, environment, busy, onUndo }: UnsavedProps) {
  const changed = changedOf(tiers, typed).length;
  const wrong = tiers.filter((tier) => faultOf(tier, typed) !== null).length;
  const stale = tiers.filter(isStale).length;
  if (changed === 0 && wrong === 0 && stale === 0) return null;
  const says =
    wrong > 0
      ? `${many(wrong, 'price')} cannot be saved.`
      : changed > 0
        ? `${many(changed, 'price')} changed.`
        : `${many(stale, 'price')} to set again.`;
  return (
    <SaveLine
      unsaved={<strong class={wrong > 0 ? 'bad small' : 'small'}>{says}</strong>}
      onUndo={onUndo}
    >
      <Button kind="pri" busy={busy}>
        {busy ? 'Saving …' : `Save ${environment} prices`}
      </Button>
    </SaveLine>
  );
}

interface CellsProps {
  environment: Environment;
  typed: Typed;
  edits: boolean;
  set(tierId: string, text: string): void;
}

function columnsOf({ environment, typed, edits, set }: CellsProps): readonly Column<Tier>[] {
  return [
    {
      head: 'Tier',
      cell: ({ name, tierId }) => (
        <>
          {name} <code class="quiet under">{tierId}</code>
        </>
      ),
    },
    { head: 'Floor', right: true, cell: (tier) => dollars(tier.floorUsdCents) },
    {
      head: 'Your price, US$',
      cell: (tier) =>
        edits ? (
          <PriceField
            {...{ tier, typed, environment }}
            onType={(text) => set(tier.tierId, text)}
          />
        ) : tier.priceUsdCents === undefined ? (
          <span class="quiet">floor</span>
        ) : (
          dollars(tier.priceUsdCents)
        ),
    },
    { head: 'Prize', right: true, cell: (tier) => dollars(tier.prizeUsdCents) },
    { head: 'Where it lies', cell: (tier) => <Track tier={tier} typed={typed} /> },
    {
      head: 'Rake you owe, both seats',
      right: true,
      cell: (tier) => (
        <>
          {dollars(rakeOf(tier, entryOf(tier, typed)))}
          {isStale(tier) && !(tier.tierId in typed) && <small>at the floor</small>}
        </>
      ),
    },
  ];
}

interface PriceProps {
  tier: Tier;
  typed: Typed;
  environment: Environment;
  onType(text: string): void;
}

/** The field of a price. A fault is shown once the field is left, until it is put right. */
function PriceField({ tier, typed, environment, onType }: PriceProps) {
  const [left, leave] = useState(isStale(tier));
  const fault = faultOf(tier, typed);
  const shown = left ? fault : null;
  const id = `price-${environment}-${tier.tierId}`;
  return (
    <div class="field price">
      <input
        class="in money"
        aria-label={`Price of ${tier.name}`}
        inputMode="decimal"
        autocomplete="off"
        placeholder={plain(tier.floorUsdCents)}
        value={shownOf(tier, typed)}
        aria-invalid={fault !== null}
        aria-describedby={id}
        onBlur={() => leave(true)}
        onInput={(event) => onType(event.currentTarget.value)}
      />
      <div id={id} role={shown === null ? undefined : 'alert'}>
        {shown === null ? (
          shownOf(tier, typed) === '' && <small>empty: the floor</small>
        ) : (
          <span class="err">
            <Icon name="no" />
            <span>{shown.says}</span>
            {shown.mended !== null && (
              <Button small about={`for ${tier.name}`} onPress={() => onType(shown.mended ?? '')}>
                Use {shown.mended}
              </Button>
            )}
          </span>
        )}
      </div>
    </div>
  );
}

function Track({ tier, typed }: { tier: Tier; typed: Typed }) {
  const place = placeOf(tier, entryOf(tier, typed));
  const bad = faultOf(tier, typed) !== null;
  const says = place === 0 ? 'At the floor' : `${place} % of the way from floor to prize`;
  return (
    <div class="track" role="img" aria-label={says}>
      <i class={bad ? 'bad' : ''} style={{ '--at': `${place}%` }} />
    </div>
  );
}
