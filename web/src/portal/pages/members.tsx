import { PageFrame } from '../page';

export default function Members() {
  return (
    <PageFrame title="Members" answer="" error={null} loading={false}>
      {null}
    </PageFrame>
  );
}
