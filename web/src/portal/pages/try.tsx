import { PageFrame } from '../page';

export default function TryIt() {
  return (
    <PageFrame title="Try it" answer="" error={null} loading={false}>
      {null}
    </PageFrame>
  );
}
