import { PageFrame } from '../page';

export default function CallsNow() {
  return (
    <PageFrame title="Calls now" answer="" error={null} loading={false}>
      {null}
    </PageFrame>
  );
}
