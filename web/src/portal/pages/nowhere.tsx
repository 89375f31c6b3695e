/** What stands at an address that leads to no page. */

import { PageFrame } from '../page';
import type { PageProps } from '../page';
import { LinkButton } from '../parts/button';
import { HOME, pathOf, ROUTES } from '../routes';

export default function Nowhere({ environment }: PageProps) {
  const path = location.pathname;
  const elsewhere = ROUTES.find(
    ({ name, only }) => only !== undefined && only !== environment && path.endsWith(`/${name}`),
  );
  return (
    <PageFrame
      title="No such page"
      answer={
        elsewhere?.only !== undefined ? (
          <>
            <strong>{elsewhere.title}</strong> is a page of {elsewhere.only} alone.
          </>
        ) : (
          <>
            Nothing in the portal has the address <code>{path}</code>.
          </>
        )
      }
      error={null}
      loading={false}
    >
      <div class="row">
        {elsewhere?.only !== undefined && (
          <LinkButton kind="pri" href={pathOf(elsewhere.only, elsewhere)} icon={elsewhere.icon}>
            {elsewhere.title} in {elsewhere.only}
          </LinkButton>
        )}
        <LinkButton href={pathOf(environment, HOME)} icon="home">
          Home
        </LinkButton>
      </div>
    </PageFrame>
  );
}
