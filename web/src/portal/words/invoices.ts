/** Invoices, and what their list says. */

import { dayOf, dollars, many, spanOf } from '../parts/format';
import { longDay, monthOf, plusDays, shortDay, today } from '../parts/days';
import type { Usage } from './usage';

export type Status = 'draft' | 'open' | 'paid' | 'void';

export interface Invoice {
  invoiceId: string;
  environment: string;
  status: Status;
  periodFrom: string;
  periodTo: string;
  createdAt: number;
  number?: number;
  totalUsdCents?: number;
  lineCount?: number;
  finalizedAt?: number;
  dueAt?: number;
  paidAt?: number;
  voidedAt?: number;
}

export interface Line {
  lineId: string;
  day: string;
  gameId: string;
  tierId: string;
  description: string;
  matches: number;
  amountUsdCents: number;
}

export interface LineMatch {
  matchId: string;
  endedAt: number;
  rakeUsdCents: number;
}

/** What is owed, and when. The first part is shown in bold. */
export function owed(invoices: readonly Invoice[], environment: string): [string, string] {
  const open = invoices.filter((invoice) => invoice.status === 'open');
  const draft = invoices.find((invoice) => invoice.status === 'draft');
  const rest = draft === undefined ? '' : `${monthOf(draft.periodFrom)} is still being added up.`;
  if (open.length === 0) {
    const none = invoices.length === 0 ? `No invoice yet in ${environment}.` : 'Nothing is owed.';
    return [none, rest];
  }
  const sum = open.reduce((total, invoice) => total + (invoice.totalUsdCents ?? 0), 0);
  const first = open.length === 1 ? 'One is open' : `${many(open.length, 'invoice')} are open`;
  if (environment === 'test') return [`${first}: ${dollars(sum)}, for practice.`, rest];
  const due = Math.min(...open.map((invoice) => invoice.dueAt ?? Infinity));
  const when = Number.isFinite(due) ? `, due on ${dayOf(due)}` : '';
  return [`${first}: ${dollars(sum)}${when}.`, rest];
}

/** What the current month has up to the latest final day. The first part is shown in bold. */
export function monthSays(
  { to, totals }: Pick<Usage, 'to' | 'totals'>,
  now = Date.now(),
): [string, string] {
  const month = `${today(now).slice(0, 6)}01`;
  if (to < month) return [`No day of ${monthOf(month)} is final yet.`, ''];
  const matches = many(totals.matches, 'match', 'matches');
  const until = `in ${monthOf(month)} up to ${shortDay(to)}, the latest final day.`;
  return [`${matches}, ${dollars(totals.rakeUsdCents)} of rake`, until];
}

/** When the first invoice comes, and what it bills. */
export function firstSays(environment: string, now = Date.now()): string {
  const month = today(now).slice(0, 6);
  const next = plusDays(`${month}01`, 31).slice(0, 6);
  const practice = environment === 'test' ? ' In test it is for practice.' : '';
  return (
    `Matches decided in ${monthOf(`${month}01`)} are billed on ${longDay(`${next}01`)}, once all ` +
    'their money is recorded. The invoice lists the rake by day, game and tier. A month without ' +
    `decided matches has no invoice.${practice}`
  );
}

/**
 * The day on which an invoice is due. While the invoice is open, also how far that day is from now:
 * `14 Dec 2026, in 9 days`. By the rake terms, an invoice of the test environment is never due,
 * although the service gives it a day.
 */
export function dueSays(invoice: Invoice, now = Date.now() / 1000): string {
  if (invoice.environment === 'test') return 'never: for practice';
  if (invoice.dueAt === undefined) return 'not yet';
  const day = dayOf(invoice.dueAt);
  if (invoice.status !== 'open') return day;
  const left = invoice.dueAt - now;
  return `${day}, ${left >= 0 ? `in ${spanOf(left)}` : `${spanOf(-left)} late`}`;
}

export const titleOf = (invoice: Invoice) =>
  invoice.number === undefined ? 'Draft' : `Invoice ${invoice.number}`;

/** The first sentences of an invoice's page. The first part is shown in bold. */
export function answerOf(invoice: Invoice): [string, string] {
  const total = dollars(invoice.totalUsdCents ?? 0);
  const of = `Rake of the matches decided in ${monthOf(invoice.periodFrom)}.`;
  if (invoice.status === 'paid' && invoice.paidAt !== undefined) {
    return [`${total}, paid on ${dayOf(invoice.paidAt)}.`, of];
  }
  if (invoice.status === 'void') {
    return ['Void: nothing is owed for it.', 'A later invoice bills it again.'];
  }
  if (invoice.environment === 'test') return [`${total}, for practice.`, of];
  return [
    invoice.dueAt === undefined ? `${total}.` : `${total}, due on ${dayOf(invoice.dueAt)}.`,
    of,
  ];
}
