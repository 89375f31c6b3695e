import { useQuery } from '../address';
import type { Environment } from '../api';
import { BoldFirst, PageFrame } from '../page';
import type { PageProps } from '../page';
import { Button, LinkButton } from '../parts/button';
import { Card } from '../parts/card';
import { Choice } from '../parts/filters';
import { dollars } from '../parts/format';
import { InvoiceTag } from '../parts/invoice-tag';
import { monthOf } from '../parts/days';
import { useList } from '../parts/list';
import { Empty } from '../parts/note';
import { Table } from '../parts/table';
import type { Column } from '../parts/table';
import { linkTo } from '../routes';
import { dueSays, firstSays, owed } from '../words/invoices';
import type { Invoice, Status } from '../words/invoices';
import { MonthSoFar } from './invoice-month';

type Filter = 'all' | Status;

const FILTERS: readonly (readonly [Filter, string])[] = [
  ['all', 'All'],
  ['open', 'Open'],
  ['paid', 'Paid'],
  ['void', 'Void'],
];

function columnsOf(environment: Environment): readonly Column<Invoice>[] {
  return [
    {
      head: 'Number',
      cell: ({ number, invoiceId }) =>
        number === undefined ? (
          <span class="quiet">draft</span>
        ) : (
          <a href={linkTo(environment, 'invoice', invoiceId)}>{number}</a>
        ),
    },
    { head: 'Month', cell: ({ periodFrom }) => monthOf(periodFrom) },
    { head: 'State', cell: (invoice) => <InvoiceTag invoice={invoice} /> },
    { head: 'Due', cell: (invoice) => dueSays(invoice) },
    {
      head: 'Total',
      right: true,
      cell: ({ totalUsdCents, status }) => {
        if (totalUsdCents === undefined) return <span class="quiet">not yet</span>;
        const total = dollars(totalUsdCents);
        return status === 'void' ? <s class="quiet">{total}</s> : total;
      },
    },
  ];
}

export default function Invoices({ api, environment }: PageProps) {
  const [query, change] = useQuery();
  const path = `invoices?environment=${environment}`;
  const list = useList<Invoice>(api, path, 'invoices', true);
  const asked = query.get('status');
  const filter = FILTERS.find(([name]) => name === asked)?.[0] ?? 'all';
  const invoices = list.entries ?? [];
  const shown = invoices.filter(({ status }) => filter === 'all' || status === filter);
  const drop = <Button onPress={() => change({ status: null })}>Show all</Button>;
  return (
    <PageFrame
      title="Invoices"
      answer={<BoldFirst parts={owed(invoices, environment)} />}
      error={list.error}
      loading={list.entries === null}
    >
      <MonthSoFar {...{ api, environment }} />
      <Card flush>
        {invoices.length === 0 ? (
          <Empty
            icon="bill"
            title="One invoice a month, for rake alone"
            acts={<LinkButton href={linkTo(environment, 'usage')}>See the rake by day</LinkButton>}
          >
            {firstSays(environment)}
          </Empty>
        ) : (
          <>
            <div class="filters">
              <Choice
                label="State"
                choices={FILTERS}
                value={filter}
                onChoose={(status) => change({ status: status === 'all' ? null : status })}
              />
            </div>
            {shown.length === 0 ? (
              <Empty icon="bill" title={`No invoice is ${filter}`} acts={drop}>
                The others are in another state.
              </Empty>
            ) : (
              <Table
                label="Invoices, the newest first"
                columns={columnsOf(environment)}
                rows={shown}
                keyOf={(invoice) => invoice.invoiceId}
              />
            )}
          </>
        )}
      </Card>
    </PageFrame>
  );
}
