/** Line drawings of 24 by 24 units. Screen readers do not see them. */

const SPEAKER = 'M4 9.5v5h3.5L12 18.5v-13L7.5 9.5z';

const PATHS = {
  alert: 'M12 4L2.8 19.5h18.4zM12 10v4.5M12 17.2v.1',
  again: 'M19.5 12a7.5 7.5 0 11-2.4-5.5M19.5 3.5v4h-4',
  back: 'M9 6L4.5 10.5 9 15M5 10.5h9a5 5 0 010 10h-3',
  clock: 'M12 3.5a8.5 8.5 0 100 17 8.5 8.5 0 000-17zM12 7.5V12l3 2',
  cup:
    'M7.5 4h9v6a4.5 4.5 0 01-9 0zM7.5 5.5H4c0 3.5 1.5 5.5 4 5.8' +
    'M16.5 5.5H20c0 3.5-1.5 5.5-4 5.8M12 14.5V19M8 20h8',
  draw: 'M5 9h14M5 15h14',
  flag: 'M6 21V4M6 4.5c4-2 8 2 12 0v9c-4 2-8-2-12 0',
  left: 'M15 5l-7 7 7 7',
  load: 'M12 3.5a8.5 8.5 0 108.5 8.5',
  right: 'M9 5l7 7-7 7',
  seat: 'M7 4v9h10M7 13v7M17 13v7M7 13l-.5-9',
  skip: 'M5 6l7 6-7 6zM13 6l7 6-7 6z',
  soundOff: `${SPEAKER}M16 9.8l4.5 4.5M20.5 9.8L16 14.3`,
  soundOn: `${SPEAKER}M15.5 9a4.2 4.2 0 010 6M18 6.5a8 8 0 010 11`,
  tabs: 'M8.5 8.5h11v11h-11zM15.5 8.5v-4h-11v11h4',
  unplug:
    'M3 3l18 18M8.5 15.5l-4 4M10 7.5l-2 2a4.5 4.5 0 00-.5 5.5l1 1.5c1.7 1.2 4 1 5.5-.5l1-1' +
    'M13 5.5a4.5 4.5 0 015.7 5.6l-1.2 1.9M19.5 4.5L18 6',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, spins = false }: { name: IconName; spins?: boolean }) {
  return (
    <svg class={spins ? 'ico spin' : 'ico'} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
