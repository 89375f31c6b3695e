/** A table of up to thousands of rows, of which only those near the visible part are drawn. */

import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Column } from './table';
import { rowsShown } from './window';
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
   * On a phone, the number of lines of the column that fills the row; that column is then as wide
   * as the row. Every row gives it this many, because all rows have one height. Without a number,
   * the column is cut to two lines.
   */
  lines?: number;
  /** The row under which `detail` is open. */
  open?: string | null;
  detail?(row: Row): ComponentChildren;
  /** Asks for more rows, when the last ones are near. */
  onNearEnd?(): void;
}

function useWindow(total: number, openIndex: number) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [place, setPlace] = useState({ top: 0, height: innerHeight, row: ROW_PX, opened: 0 });
  useLayoutEffect(() => {
    const look = () => {
      const section = body.current;
      if (section === null) return;
      const row = section.querySelector<HTMLElement>('[data-row]')?.offsetHeight ?? ROW_PX;
      const opened = section.querySelector<HTMLElement>('[data-detail]')?.offsetHeight ?? 0;
      const head = section.closest('table')?.tHead ?? section;
      const top = Math.round(-head.getBoundingClientRect().bottom);
      const next = { top, height: innerHeight, row, opened };
      setPlace((now) => (JSON.stringify(now) === JSON.stringify(next) ? now : next));
    };
    look();
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, [total, openIndex]);
  const opened = openIndex < 0 ? null : { index: openIndex, height: place.opened };
  return { body, shown: rowsShown(total, place.row, place.top, place.height, opened) };
}

/** Scrolls to the row that the address names, once it is there. */
function useSought(
  open: string | null,
  openIndex: number,
  body: RefObject<HTMLTableSectionElement | null>,
) {
  const sought = useRef(open !== null);
  useLayoutEffect(() => {
    const head = body.current?.closest('table')?.tHead;
    if (!sought.current || openIndex < 0 || !head) return;
    sought.current = false;
    const row = body.current?.querySelector<HTMLElement>('[data-row]')?.offsetHeight ?? ROW_PX;
    const at = head.getBoundingClientRect().bottom + openIndex * row;
    if (at + row > innerHeight) scrollBy(0, at - innerHeight / 3);
  }, [openIndex]);
}

export function LongTable<Row>(props: LongTableProps<Row>) {
  const { label, columns, rows, keyOf, whole, open = null, detail, lines, onNearEnd } = props;
  const openIndex = open === null ? -1 : rows.findIndex((row) => keyOf(row) === open);
  const { body, shown } = useWindow(rows.length, openIndex);
  useSought(open, openIndex, body);
  const near = shown.end >= rows.length - NEAR_END;
  useEffect(() => {
    if (near && !whole) onNearEnd?.();
  }, [near, whole, rows.length]);
  return (
    <div class="long" role="region" aria-label={label} tabIndex={0}>
      <table
        class={lines === undefined ? 't cards even' : 't cards even tall'}
        style={lines === undefined ? undefined : `--lines: ${lines}`}
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
