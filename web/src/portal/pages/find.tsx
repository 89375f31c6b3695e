import { PageFrame } from '../page';

export default function FindAMatch() {
  return (
    <PageFrame title="Find a match" answer="" error={null} loading={false}>
      {null}
    </PageFrame>
  );
}
