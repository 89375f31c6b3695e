/**
 * The line under the bar that says what is wrong in the account. It leaves out what the open page
 * is about. It stays until the fault is repaired.
 */

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Api, Environment } from './api';
import { READ_AGAIN } from './page';
import { FAILURES_MAX, ROTATION_S } from './parts/bounds';
import { Icon } from './parts/icon';
import { many, timeOf } from './parts/format';
import { linkTo } from './routes';
import type { Place } from './routes';

/** How many failures in a row show the banner. */
const FAILURES_TOLD = 3;

/** How often the account is read again without a write, in milliseconds. */
const EVERY_MS = 60_000;

interface Webhook {
  enabled: boolean;
  consecutiveFailures: number;
}

interface Key {
  environment: Environment;
  label: string;
  status: 'active' | 'scheduled' | 'revoked';
  revokesAt?: number;
  lastUsedAt?: number;
}

interface Tier {
  name: string;
  priceUsdCents?: number;
  inForce: boolean;
}

export interface Banner {
  environment: Environment;
  /** The page on which the fault can be repaired. */
  page: string;
  bad: boolean;
  title: string;
  says: string;
  act: string;
}

export interface Found {
  webhook: Webhook | undefined;
  keys: readonly Key[];
  tiers: readonly Tier[];
}

function ofWebhook(environment: Environment, webhook: Webhook | undefined): Banner[] {
  if (webhook === undefined) return [];
  const failed = webhook.consecutiveFailures;
  const at = { environment, page: 'webhooks' };
  if (!webhook.enabled) {
    return [
      {
        ...at,
        bad: true,
        title: `Webhook in ${environment} is switched off.`,
        says: 'Results still wait in the feed.',
        act: 'See why, and switch it on',
      },
    ];
  }
  if (failed < FAILURES_TOLD) return [];
  const left = FAILURES_MAX - failed;
  return [
    {
      ...at,
      bad: false,
      title: `Webhook in ${environment}: ${many(failed, 'nudge')} in a row failed.`,
      says: `After ${many(left, 'more failure')} the webhook is switched off.`,
      act: 'See why',
    },
  ];
}

function ofPrices(environment: Environment, tiers: readonly Tier[]): Banner[] {
  const stale = tiers.filter((tier) => tier.priceUsdCents !== undefined && !tier.inForce);
  if (stale.length === 0) return [];
  const names = stale.map(({ name }) => name).join(', ');
  const one = stale.length === 1;
  const title = one
    ? `A price in ${environment} is not charged, since its tier has changed.`
    : `${stale.length} prices in ${environment} are not charged, since their tiers have changed.`;
  const says = one
    ? `${names} charges its floor until its price is set again.`
    : `${names} charge their floors until their prices are set again.`;
  const act = one ? 'Set it' : 'Set them';
  return [{ environment, page: 'prices', bad: true, title, says, act }];
}

function ofKeys(environment: Environment, keys: readonly Key[]): Banner[] {
  return keys
    .filter((key) => key.environment === environment && key.status === 'scheduled')
    .filter(({ revokesAt = 0, lastUsedAt = 0 }) => lastUsedAt > revokesAt - ROTATION_S)
    .map((key) => ({
      environment,
      page: 'keys',
      bad: false,
      title: `A ${environment} key that stops on ${timeOf(key.revokesAt)} is still used.`,
      says: `“${key.label}” was used at ${timeOf(key.lastUsedAt)}.`,
      act: 'See the key',
    }));
}

/** The fault "the account is off". It stops everything in both environments. */
export const ofAccount = (environment: Environment, active: boolean): Banner[] =>
  active
    ? []
    : [
        {
          environment,
          page: 'account',
          bad: true,
          title: 'The account is switched off.',
          says: 'No key works and nobody can play, in test or in live.',
          act: 'See the account',
        },
      ];

/** What is broken in an environment, the worst first. */
export function bannersOf(environment: Environment, { webhook, keys, tiers }: Found): Banner[] {
  const all = [
    ...ofWebhook(environment, webhook),
    ...ofPrices(environment, tiers),
    ...ofKeys(environment, keys),
  ];
  return [...all.filter(({ bad }) => bad), ...all.filter(({ bad }) => !bad)];
}

async function look(api: Api): Promise<Banner[]> {
  const reading = api.read<{ keys: Key[] }>('keys?limit=500');
  const each = await Promise.all(
    (['live', 'test'] as const).map(async (environment) => {
      const [{ webhook }, { tiers }, { keys }] = await Promise.all([
        api.read<{ webhook?: Webhook }>(`webhooks/${environment}`),
        api.read<{ tiers: Tier[] }>(`tiers?environment=${environment}`),
        reading,
      ]);
      return bannersOf(environment, { webhook, keys, tiers });
    }),
  );
  const found = each.flat();
  return [...found.filter(({ bad }) => bad), ...found.filter(({ bad }) => !bad)];
}

/**
 * Reads when it is first drawn. Reads again after each change of the account's revision, on focus,
 * and once a minute. If a read fails, the last result stays.
 */
export function useBanners(api: Api, revision: number | null): Banner[] {
  const [banners, setBanners] = useState<Banner[]>([]);
  const again = useCallback(() => void look(api).then(setBanners, () => null), [api]);
  const known = useRef<number | null>(null);
  useEffect(() => {
    again();
    const timer = setInterval(again, EVERY_MS);
    addEventListener(READ_AGAIN, again);
    return () => {
      clearInterval(timer);
      removeEventListener(READ_AGAIN, again);
    };
  }, [again]);
  useEffect(() => {
    if (known.current !== null && known.current !== revision) again();
    known.current = revision;
  }, [again, revision]);
  return banners;
}

interface BannersProps {
  banners: readonly Banner[];
  place: Place;
}

export function BannerLine({ banners, place }: BannersProps) {
  const [at, setAt] = useState(0);
  const shown = banners.filter(
    ({ page, environment }) =>
      place.route.name !== page || (!place.route.whole && place.environment !== environment),
  );
  const banner = shown[at % Math.max(1, shown.length)];
  if (banner === undefined) return null;
  return (
    <div class={`banner ${banner.bad ? 'is-bad' : 'is-warn'}`} role="region" aria-label="Broken">
      <Icon name="warn" />
      <p>
        <b>{banner.title}</b> {banner.says}{' '}
        <a href={linkTo(banner.environment, banner.page)}>{banner.act}</a>
        {shown.length > 1 && (
          <button type="button" class="btn plain sm" onClick={() => setAt(at + 1)}>
            {(at % shown.length) + 1} of {shown.length}
            <span class="unseen">, show the next one</span>
          </button>
        )}
      </p>
    </div>
  );
}
