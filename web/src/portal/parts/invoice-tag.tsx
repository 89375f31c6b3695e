import { dayOf } from './format';
import { Tag } from './note';
import type { Invoice } from '../words/invoices';

/** The state of an invoice, with the day of its end. */
export function InvoiceTag({ invoice }: { invoice: Invoice }) {
  const { status, paidAt } = invoice;
  if (status === 'draft') return <Tag icon="clock">being added up</Tag>;
  if (status === 'paid') {
    return (
      <Tag tone="good" icon="check">
        paid{paidAt === undefined ? '' : ` ${dayOf(paidAt)}`}
      </Tag>
    );
  }
  if (status === 'void') return <Tag icon="no">void</Tag>;
  return (
    <Tag tone="warn" icon="bill">
      open
    </Tag>
  );
}
