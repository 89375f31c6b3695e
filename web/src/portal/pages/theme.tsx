import { PageFrame } from '../page';

export default function Theme() {
  return (
    <PageFrame title="Theme" answer="" error={null} loading={false}>
      {null}
    </PageFrame>
  );
}
