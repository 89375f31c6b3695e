import { PageFrame } from '../page';

export default function ApiVersion() {
  return (
    <PageFrame title="API version" answer="" error={null} loading={false}>
      {null}
    </PageFrame>
  );
}
