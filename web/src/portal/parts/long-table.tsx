/** A table of up to thousands of rows, of which only those near the visible part are drawn. */

import type { ComponentChildren, RefObject } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Column } from './table';
import { offsetOf, rowsShown } from './window';
import type { Shown } from './window';

/** Pixels of a row until one has been measured. */
const ROW_PX = 41;
/** More rows are asked for when this many or fewer are left below. */
const NEAR_END = 50;

interface LongTableProps<Row> {
  /** What the table is, for screen readers. */
  label: string;
  /** The first column names the row. */
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
  /** Whether the rows are all that there are. */
  whole: boolean;
  /**
   * Whether, on a phone, the column that fills the row is as wide as the row and shows all that it
   * has. Otherwise it is cut to two lines.
   */
  tall?: boolean;
  /** The row under which `detail` is open. */
  open?: string | null;
  detail?(row: Row): ComponentChildren;
  /** Asks for more rows, when the last ones are near. */
  onNearEnd?(): void;
}

/** Where the rows begin, in pixels from the window's top. A phone does not show their head. */
const beginOf = (body: HTMLTableSectionElement): number =>
  (body.previousElementSibling ?? body).getBoundingClientRect().top;

/** Pixels of a row that is drawn, with what is open under it. */
function heightOf(row: HTMLElement): number {
  const next = row.nextElementSibling;
  const opened = next instanceof HTMLElement && next.dataset.detail !== undefined ? next : null;
  return row.offsetHeight + (opened?.offsetHeight ?? 0);
}

/**
 * Which rows are drawn, and how high all are. A row that was never drawn counts as high as the mean
 * of the rows that were drawn first. Later rows do not change that mean, because then the rows on
 * the screen would jump.
 */
function useWindow(keys: readonly string[]) {
  const body = useRef<HTMLTableSectionElement>(null);
  const known = useRef({ width: innerWidth, usual: 0, rows: new Map<string, number>() });
  const [place, setPlace] = useState({ top: 0, height: innerHeight, measured: 0 });
  const look = useCallback(() => {
    const section = body.current;
    if (section === null) return;
    const now = known.current;
    if (now.width !== innerWidth) known.current = { width: innerWidth, usual: 0, rows: new Map() };
    const { rows } = known.current;
    let changed = false;
    const drawn = section.querySelectorAll<HTMLElement>('[data-row]');
    for (const row of drawn) {
      const [key, height] = [row.dataset.row ?? '', heightOf(row)];
      changed ||= rows.get(key) !== height;
      rows.set(key, height);
    }
    if (known.current.usual === 0 && rows.size > 0) {
      known.current.usual = [...rows.values()].reduce((sum, row) => sum + row, 0) / rows.size;
    }
    const top = Math.round(-beginOf(section));
    setPlace((was) =>
      changed || was.top !== top || was.height !== innerHeight
        ? { top, height: innerHeight, measured: was.measured + 1 }
        : was,
    );
  }, []);
  useLayoutEffect(look); // after each drawing, because it may have drawn rows for the first time
  useEffect(() => {
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, [look]);
  const { rows, usual } = known.current;
  const heights = keys.map((key) => rows.get(key) ?? (usual || ROW_PX));
  return { body, heights, shown: rowsShown(heights, place.top, place.height) };
}

/** Scrolls to the row that the address names, once it is there. */
function useSought(
  open: string | null,
  openIndex: number,
  heights: readonly number[],
  body: RefObject<HTMLTableSectionElement | null>,
) {
  const sought = useRef(open !== null);
  useLayoutEffect(() => {
    if (!sought.current || openIndex < 0 || body.current === null) return;
    // Until the row is drawn, its place is known roughly.
    const row = body.current.querySelector('.on')?.getBoundingClientRect();
    const at = row?.top ?? beginOf(body.current) + offsetOf(heights, openIndex);
    sought.current = row === undefined;
    if ((row?.bottom ?? at + ROW_PX) > innerHeight || at < 0) scrollBy(0, at - innerHeight / 3);
  });
}

export function LongTable<Row>(props: LongTableProps<Row>) {
  const { label, columns, rows, keyOf, whole, open = null, detail, tall, onNearEnd } = props;
  const keys = rows.map(keyOf);
  const { body, heights, shown } = useWindow(keys);
  useSought(open, open === null ? -1 : keys.indexOf(open), heights, body);
  const near = shown.end >= rows.length - NEAR_END;
  useEffect(() => {
    if (near && !whole) onNearEnd?.();
  }, [near, whole, rows.length]);
  return (
    <div class="long" role="region" aria-label={label} tabIndex={0}>
      <table
        class={tall ? 't cards even tall' : 't cards even'}
        role="table"
        aria-label={label}
        aria-rowcount={whole ? rows.length + 1 : -1}
      >
        <thead role="rowgroup">
          <tr role="row" aria-rowindex={1}>
            {columns.map(({ head, right, wide }) => (
              <th
                key={head}
                scope="col"
                role="columnheader"
                class={[right && 'r', wide && 'wide-only'].filter(Boolean).join(' ')}
              >
                {head === '' ? <span class="unseen">Open</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <Gap height={shown.above} columns={columns.length} />
        <tbody role="rowgroup" ref={body}>
          <Rows {...{ columns, rows, keyOf, open, shown }} detail={detail} />
        </tbody>
        <Gap height={shown.below} columns={columns.length} />
      </table>
    </div>
  );
}

/** Empty space as high as the rows that are not drawn. */
function Gap({ height, columns }: { height: number; columns: number }) {
  return (
    <tbody aria-hidden="true" class="gap">
      {height > 0 && (
        <tr style={{ height: `${height}px` }}>
          <td colSpan={columns} />
        </tr>
      )}
    </tbody>
  );
}

interface RowsProps<Row> extends Pick<LongTableProps<Row>, 'columns' | 'rows' | 'keyOf'> {
  open: string | null;
  detail: ((row: Row) => ComponentChildren) | undefined;
  shown: Shown;
}

function Rows<Row>({ columns, rows, keyOf, open, detail, shown }: RowsProps<Row>) {
  return (
    <>
      {rows.slice(shown.first, shown.end).flatMap((row, at) => {
        const key = keyOf(row);
        const index = shown.first + at + 2;
        const selected = key === open;
        const drawn = [
          <tr
            key={key}
            data-row={key}
            role="row"
            aria-rowindex={index}
            class={selected ? 'on' : ''}
          >
            {columns.map((column, number) => (
              <Cell key={column.head} column={column} row={row} first={number === 0} />
            ))}
          </tr>,
        ];
        if (selected && detail !== undefined) {
          drawn.push(
            <tr key={`${key} open`} data-detail role="row" aria-rowindex={index} class="detail">
              <td role="cell" colSpan={columns.length}>
                {detail(row)}
              </td>
            </tr>,
          );
        }
        return drawn;
      })}
    </>
  );
}

interface CellProps<Row> {
  column: Column<Row>;
  row: Row;
  first: boolean;
}

function Cell<Row>({ column, row, first }: CellProps<Row>) {
  const { head, right, wide, fills, cell } = column;
  if (first) {
    return (
      <th scope="row" role="rowheader">
        {cell(row)}
      </th>
    );
  }
  const look = [head === '' && 'acts', right && 'r', wide && 'wide-only', fills && 'fills'];
  return (
    <td role="cell" class={look.filter(Boolean).join(' ')}>
      {cell(row)}
    </td>
  );
}
