/** Tables as files of comma-separated values. */

export type Value = string | number | null | undefined;

/** The beginning of a text that a spreadsheet would run as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

function field(value: Value): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns a table as text (RFC 4180). The first row has the heads. */
export function csvOf(rows: readonly (readonly Value[])[]): string {
  return rows.map((row) => `${row.map(field).join(',')}\r\n`).join('');
}

/** US cents as a number of dollars, for a column of amounts. */
export const amount = (cents: number) => Number((cents / 100).toFixed(2));

/** Hands a table to the browser as a file to keep. */
export function save(name: string, rows: readonly (readonly Value[])[]): void {
  // The mark at the beginning tells spreadsheets that the text is UTF-8.
  const file = new Blob(['\ufeff', csvOf(rows)], { type: 'text/csv;charset=utf-8' });
  const address = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has taken the file once the task of the click has ended.
  setTimeout(() => URL.revokeObjectURL(address), 0);
}
