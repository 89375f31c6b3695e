import { PageFrame } from '../page';

export default function RakeTerms() {
  return (
    <PageFrame title="Rake terms" answer="" error={null} loading={false}>
      {null}
    </PageFrame>
  );
}
