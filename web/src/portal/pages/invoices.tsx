import { PageFrame } from '../page';

export default function Invoices() {
  return (
    <PageFrame title="Invoices" answer="" error={null} loading={false}>
      {null}
    </PageFrame>
  );
}
