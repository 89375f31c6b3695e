import { useQuery } from '../address';
import { Refused } from '../api';
import { BoldFirst, PageFrame, useReading } from '../page';
import type { PageProps } from '../page';
import { Button, LinkButton } from '../parts/button';
import { Card } from '../parts/card';
import { Id } from '../parts/copy';
import { amount, save } from '../parts/csv';
import { shortDay } from '../parts/days';
import { dollars, many, timeOf } from '../parts/format';
import { InvoiceTag } from '../parts/invoice-tag';
import { useList } from '../parts/list';
import { Empty } from '../parts/note';
import { linkTo } from '../routes';
import { answerOf, dueSays, titleOf } from '../words/invoices';
import type { Invoice, Line } from '../words/invoices';
import { Lines } from './invoice-lines';

function keep(invoice: Invoice, lines: readonly Line[]) {
  const heads = ['day', 'game', 'tier', 'description', 'matches', 'rake, US dollars', 'lineId'];
  const rows = lines.map((line) => [
    line.day,
    line.gameId,
    line.tierId,
    line.description,
    line.matches,
    amount(line.amountUsdCents),
    line.lineId,
  ]);
  save(`invoice-${invoice.number ?? invoice.invoiceId}.csv`, [heads, ...rows]);
}

export default function InvoicePage({ api, account, environment, id }: PageProps) {
  const [query, change] = useQuery();
  const path = `invoices/${encodeURIComponent(id ?? '')}`;
  const here = `environment=${environment}`;
  const { value: invoice, error } = useReading<Invoice>(api, `${path}?${here}`);
  const list = useList<Line>(api, `${path}/lines?${here}`, 'lines', true);
  const lines = list.entries ?? [];
  const reason = error instanceof Refused ? error.reason : '';
  if (reason === 'invoice_not_readable' || reason === 'invoice_not_found') {
    return <NotThere environment={environment} draft={reason === 'invoice_not_readable'} />;
  }
  const acts = invoice !== null && list.whole && (
    <>
      <Button icon="save" onPress={() => keep(invoice, lines)}>
        CSV
      </Button>
      <Button icon="print" onPress={() => print()}>
        Print
      </Button>
    </>
  );
  return (
    <>
      <p class="crumb noprint">
        <a href={linkTo(environment, 'invoices')}>All invoices</a>
      </p>
      <PageFrame
        title={invoice === null ? 'Invoice' : titleOf(invoice)}
        answer={
          invoice !== null && (
            <>
              <InvoiceTag invoice={invoice} /> <BoldFirst parts={answerOf(invoice)} />
            </>
          )
        }
        acts={acts || undefined}
        error={error ?? list.error}
        loading={invoice === null || !list.whole}
      >
        {invoice !== null && (
          <Parties invoice={invoice} name={account.name} of={account.partnerId} />
        )}
        {invoice !== null && (
          <Lines
            {...{ api, environment, invoice, lines }}
            open={query.get('open')}
            onOpen={(open) => change({ open })}
          />
        )}
      </PageFrame>
    </>
  );
}

function Parties({ invoice, name, of }: { invoice: Invoice; name: string; of: string }) {
  const period = `${shortDay(invoice.periodFrom)} to ${shortDay(invoice.periodTo)}`;
  return (
    <Card>
      <div class="cols">
        <dl class="kv dense">
          <dt>From</dt>
          <dd>Partner Game Service</dd>
          <dt>To</dt>
          <dd>
            {name} ({of})
          </dd>
          <dt>Environment</dt>
          <dd>{invoice.environment}</dd>
          <dt>Id</dt>
          <dd>
            <Id id={invoice.invoiceId} what="the id of the invoice" />
          </dd>
        </dl>
        <dl class="kv dense">
          <dt>Period</dt>
          <dd>
            {period} {invoice.periodTo.slice(0, 4)}, UTC
          </dd>
          <dt>Final since</dt>
          <dd>{timeOf(invoice.finalizedAt, 'not yet')}</dd>
          <dt>Due</dt>
          <dd>{dueSays(invoice)}</dd>
          <dt>Lines</dt>
          <dd>
            {many(invoice.lineCount ?? 0, 'line')}, {dollars(invoice.totalUsdCents ?? 0)}
          </dd>
        </dl>
      </div>
    </Card>
  );
}

function NotThere({ environment, draft }: { environment: 'test' | 'live'; draft: boolean }) {
  const back = <LinkButton href={linkTo(environment, 'invoices')}>All invoices</LinkButton>;
  return (
    <PageFrame
      title="Invoice"
      answer={
        <strong>
          {draft ? 'Still being added up.' : `There is no such invoice in ${environment}.`}
        </strong>
      }
      error={null}
      loading={false}
    >
      <Card flush>
        <Empty icon="bill" title={draft ? 'A draft has no lines yet' : 'Nothing here'} acts={back}>
          {draft
            ? 'It can be read once every day of its month is final.'
            : 'An invoice of the other environment has its page there.'}
        </Empty>
      </Card>
    </PageFrame>
  );
}
