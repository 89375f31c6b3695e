import { PageFrame } from '../page';

export default function Invoice() {
  return (
    <PageFrame title="Invoice" answer="" error={null} loading={false}>
      {null}
    </PageFrame>
  );
}
