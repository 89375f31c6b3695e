import { PageFrame } from '../page';

export default function EventLog() {
  return (
    <PageFrame title="Event log" answer="" error={null} loading={false}>
      {null}
    </PageFrame>
  );
}
