import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export interface Column<Row> {
  /** The head of the column. It is empty for a column of buttons. */
  head: string;
  cell(row: Row): ComponentChildren;
  right?: boolean;
  /** Whether the column is left out where there is little room. */
  wide?: boolean;
  /** Whether the column takes the room that the others leave, and is cut where that is little. */
  fills?: boolean;
}

interface TableProps<Row> {
  /** What the table is, for screen readers. */
  label: string;
  /** The first column names the row. */
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
  /** On a phone: `cards` shows label and value, `scroll` scrolls sideways. */
  narrow?: 'cards' | 'scroll';
  /** The key of the row that the address names. */
  marked?: string | null;
}

/** A table of a few rows. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, keyOf, narrow = 'cards', marked = null } = props;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.querySelector('.on')?.scrollIntoView({ block: 'nearest' });
  }, [marked]);
  return (
    <div ref={box} class="scroll" role="region" aria-label={label} tabIndex={0}>
      <table class={narrow === 'cards' ? 't cards' : 't'} role="table">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ head, right, wide }) => (
              <th
                key={head}
                scope="col"
                role="columnheader"
                class={right ? 'r' : wide ? 'roomy' : undefined}
              >
                {head === '' ? <span class="unseen">Acts</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              data-row={keyOf(row)}
              role="row"
              class={keyOf(row) === marked ? 'on' : undefined}
            >
              {columns.map((column, index) => (
                <Cell key={column.head} column={column} row={row} first={index === 0} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface CellProps<Row> {
  column: Column<Row>;
  row: Row;
  first: boolean;
}

// The roles are given explicitly: on a phone the style sheet makes the table a grid, and its
// elements then have no roles of their own.
function Cell<Row>({ column, row, first }: CellProps<Row>) {
  const { head, right, wide, cell } = column;
  if (first) {
    return (
      <th scope="row" role="rowheader">
        {cell(row)}
      </th>
    );
  }
  const look = head === '' ? 'acts' : right ? 'r' : wide ? 'roomy' : undefined;
  return (
    <td role="cell" class={look} data-l={head}>
      {cell(row)}
    </td>
  );
}
