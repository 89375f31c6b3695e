import type { Account } from './api';
import { Icon } from './parts/icon';
import { HOME, pathOf } from './routes';
import type { Place } from './routes';

const ROOMS = {
  test: ['Test', 'Play money. Nobody is charged.'],
  live: ['Live', 'Real players, real money.'],
  account: ['Whole account', 'Counts in test and in live.'],
} as const;

interface BarProps {
  account: Account | null;
  place: Place;
  /** Whether the navigation is open, where it is a drawer. */
  open: boolean;
  onMenu(): void;
  onPalette(): void;
  onMe(): void;
}

/** The bar at the top. It names the environment in which acts take effect. */
export function Bar({ account, place, open, onMenu, onPalette, onMe }: BarProps) {
  const { environment, route } = place;
  const [room, says] = ROOMS[route.whole ? 'account' : environment];
  return (
    <header class="top">
      <button
        type="button"
        class="btn sq menu"
        aria-label="Pages"
        aria-expanded={open}
        aria-controls="pages"
        onClick={onMenu}
      >
        <Icon name="menu" />
      </button>
      <a class="brand" href={pathOf(environment, HOME)} aria-label="Game Service, Home">
        <Icon name="mark" />
        <span>Game Service</span>
      </a>
      <div class="room">
        <b>
          {!route.whole && <i class={environment === 'live' ? 'dot on' : 'dot'} />}
          {room}
        </b>
        <span>{says}</span>
      </div>
      <span class="grow" />
      <button type="button" class="btn find" onClick={onPalette} disabled={account === null}>
        <Icon name="find" />
        <span class="grow">Search</span>
        <kbd>Ctrl K</kbd>
      </button>
      <button
        type="button"
        class="btn sq"
        aria-label={account === null ? 'You' : `${account.email}, ${account.role}`}
        onClick={onMe}
        disabled={account === null}
      >
        {account?.email[0]?.toUpperCase() ?? '…'}
      </button>
    </header>
  );
}
