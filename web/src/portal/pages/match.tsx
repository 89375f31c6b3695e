import { PageFrame } from '../page';

export default function Match() {
  return (
    <PageFrame title="Match" answer="" error={null} loading={false}>
      {null}
    </PageFrame>
  );
}
