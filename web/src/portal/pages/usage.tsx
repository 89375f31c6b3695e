import { PageFrame } from '../page';

export default function Usage() {
  return (
    <PageFrame title="Usage" answer="" error={null} loading={false}>
      {null}
    </PageFrame>
  );
}
