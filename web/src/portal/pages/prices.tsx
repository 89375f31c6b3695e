import { PageFrame } from '../page';

export default function Prices() {
  return (
    <PageFrame title="Prices" answer="" error={null} loading={false}>
      {null}
    </PageFrame>
  );
}
