import { PageFrame } from '../page';

export default function Account() {
  return (
    <PageFrame title="Account" answer="" error={null} loading={false}>
      {null}
    </PageFrame>
  );
}
