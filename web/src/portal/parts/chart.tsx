/** Bars of one measure. The component that uses the chart puts the picked bar into words. */

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { LINES, stepFor } from './scale';

const HIGH = 230;
const LOW = 150;
const LEFT = 52;
const TOP = 14;
const FOOT = 26;
/** Pixels that the name of a bar needs, with some room beside it. */
const NAME_PX = 80;
/** Pixels of half a name. A name nearer to the right edge ends at the edge. */
const HALF_NAME_PX = 24;

export interface Bar {
  key: string;
  name: string;
  value: number;
  /** The part of the value that went wrong. */
  failed?: number;
}

interface ChartProps {
  label: string;
  bars: readonly Bar[];
  /** The value as the axis shows it. */
  axis(value: number): string;
  picked: string;
  /** The picked bar in words. */
  says: string;
  low?: boolean;
  onPick(key: string): void;
  /** Called with the bar under the pointer, or null. */
  onPoint(key: string | null): void;
}

function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(960);
  useLayoutEffect(() => {
    const look = () => setWidth(Math.max(280, box.current?.clientWidth ?? 960));
    look();
    const watcher = new ResizeObserver(look);
    if (box.current !== null) watcher.observe(box.current);
    return () => watcher.disconnect();
  }, []);
  return { box, width };
}

export function Chart(props: ChartProps) {
  const { label, bars, axis, picked, says, low = false, onPick, onPoint } = props;
  const { box, width } = useWidth();
  const height = low ? LOW : HIGH;
  const at = Math.max(
    0,
    bars.findIndex((bar) => bar.key === picked),
  );
  const walk = (event: KeyboardEvent) => {
    const last = bars.length - 1;
    const steps = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last };
    const to = steps[event.key as keyof typeof steps];
    if (to === undefined) return;
    event.preventDefault();
    onPick(bars[Math.min(Math.max(to, 0), last)]!.key);
  };
  return (
    <div ref={box}>
      <svg
        class="chart"
        viewBox={`0 0 ${width} ${height}`}
        role="slider"
        // In lower case, because the names of attributes keep their case in an SVG.
        {...{ tabindex: 0 }}
        aria-label={label}
        aria-valuemin={1}
        aria-valuemax={bars.length}
        aria-valuenow={at + 1}
        aria-valuetext={says}
        onKeyDown={walk}
        onPointerLeave={() => onPoint(null)}
      >
        <Bars {...{ bars, axis, at, width, height, onPick, onPoint }} />
      </svg>
    </div>
  );
}

interface BarsProps extends Pick<ChartProps, 'bars' | 'axis' | 'onPick' | 'onPoint'> {
  at: number;
  width: number;
  height: number;
}

function Bars({ bars, axis, at, width, height, onPick, onPoint }: BarsProps) {
  const step = stepFor(Math.max(0, ...bars.map((bar) => bar.value)));
  const room = (width - LEFT) / bars.length;
  const foot = height - FOOT;
  const y = (value: number) => foot - (value / (step * LINES)) * (foot - TOP);
  const apart = Math.ceil((bars.length * NAME_PX) / (width - LEFT));
  return (
    <>
      {Array.from({ length: LINES + 1 }, (_, line) => (
        <g key={line}>
          <line x1={LEFT} x2={width} y1={y(line * step)} y2={y(line * step)} />
          <text x={LEFT - 8} y={y(line * step) + 4} text-anchor="end">
            {axis(line * step)}
          </text>
        </g>
      ))}
      {bars.map(({ key, name, value, failed = 0 }, index) => (
        <g key={key} onClick={() => onPick(key)} onPointerEnter={() => onPoint(key)}>
          <rect
            class="o"
            x={LEFT + index * room}
            y={TOP}
            width={room}
            height={foot - TOP}
          />
          <rect
            class={index === at ? 'sel' : undefined}
            x={LEFT + index * room + room * 0.16}
            y={y(value)}
            width={room * 0.68}
            height={foot - y(value)}
            rx={Math.min(3, room * 0.2)}
          />
          {failed > 0 && (
            <rect
              class="failed"
              x={LEFT + index * room + room * 0.16}
              y={y(value)}
              width={room * 0.68}
              height={Math.max(2, y(value - failed) - y(value))}
            />
          )}
          <text class="top" x={LEFT + (index + 0.5) * room} y={y(value) - 4} text-anchor="middle">
            {axis(value)}
          </text>
          {(bars.length - 1 - index) % apart === 0 && (
            <Name middle={LEFT + (index + 0.5) * room} width={width} y={height - 6} name={name} />
          )}
        </g>
      ))}
    </>
  );
}

interface NameProps {
  middle: number;
  width: number;
  y: number;
  name: string;
}

function Name({ middle, width, y, name }: NameProps) {
  const inside = middle + HALF_NAME_PX <= width;
  return (
    <text x={inside ? middle : width} y={y} text-anchor={inside ? 'middle' : 'end'}>
      {name}
    </text>
  );
}
