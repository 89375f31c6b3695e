import { PageFrame } from '../page';

export default function YourAuthenticator() {
  return (
    <PageFrame title="Your authenticator" answer="" error={null} loading={false}>
      {null}
    </PageFrame>
  );
}
