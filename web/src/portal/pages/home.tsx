import { PageFrame } from '../page';

export default function Home() {
  return (
    <PageFrame title="Home" answer="" error={null} loading={false}>
      {null}
    </PageFrame>
  );
}
