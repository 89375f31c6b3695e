/** The figures of a row of usage, in the columns of a table and of the file to keep. */

import { amount } from '../parts/csv';
import { countOf, dollars } from '../parts/format';

/** The name of each figure, and the head of its column. */
export type Columns<Name extends string> = readonly (readonly [Name, string])[];

const isMoney = (name: string) => name.endsWith('UsdCents');

/** Returns the figures as the file has them. */
export const valuesOf = <Name extends string>(
  columns: Columns<Name>,
  figures: Record<Name, number>,
) => columns.map(([name]) => (isMoney(name) ? amount(figures[name]) : figures[name]));

interface CellsProps<Name extends string> {
  columns: Columns<Name>;
  figures: Record<Name, number>;
}

export function Cells<Name extends string>({ columns, figures }: CellsProps<Name>) {
  return (
    <>
      {columns.map(([name]) => (
        <td key={name} class={figures[name] === 0 ? 'r quiet' : 'r'}>
          {isMoney(name) ? dollars(figures[name]) : countOf(figures[name])}
        </td>
      ))}
    </>
  );
}

export function Heads<Name extends string>({ columns }: { columns: Columns<Name> }) {
  return (
    <>
      {columns.map(([name, head]) => (
        <th key={name} scope="col" class="r">
          {head}
        </th>
      ))}
    </>
  );
}
