import { useState } from 'preact/hooks';
import type { Account } from '../api';
import { mayRule, PageFrame, Problem, useAct, useReading } from '../page';
import type { PageProps } from '../page';
import { Button } from '../parts/button';
import { dayOf } from '../parts/format';
import { Markdown } from '../parts/markdown';
import { Empty } from '../parts/note';

interface Terms {
  offeredVersion?: number;
  text?: string;
  agreedVersion?: number;
  agreedAt?: number;
}

/** Whether there is something to agree to. */
const isOpen = ({ offeredVersion, agreedVersion }: Terms) =>
  offeredVersion !== undefined && offeredVersion !== agreedVersion;

function Answer({ terms }: { terms: Terms }) {
  const { offeredVersion: offered, agreedVersion: agreed, agreedAt } = terms;
  const when = agreedAt === undefined ? '' : ` on ${dayOf(agreedAt)}`;
  if (agreed === undefined) {
    return offered === undefined ? (
      <strong>The platform offers no terms yet. No seat can be taken before.</strong>
    ) : (
      <>
        <strong>Version {offered} is on offer and not agreed yet.</strong> No seat can be taken
        before, in test or in live.
      </>
    );
  }
  return (
    <>
      <strong>
        Version {agreed} was agreed{when}.
      </strong>{' '}
      {isOpen(terms) &&
        `Version ${offered} is on offer. Version ${agreed} stays in force until you agree or ` +
          'the platform ends it.'}
    </>
  );
}

export default function TermsPage({ api, account, tell }: PageProps) {
  const { value, error, readAgain } = useReading<Terms>(api, 'rake-terms');
  const doing = useAct(readAgain);
  const terms = value ?? {};
  const agree = () =>
    void doing.act(async () => {
      const version = terms.offeredVersion;
      await api.write(`agree to version ${version}`, 'POST', 'rake-terms', { version });
      tell(`Version ${version} is agreed.`);
    });
  return (
    <PageFrame
      title="Rake terms"
      answer={<Answer terms={terms} />}
      error={error}
      loading={value === null}
    >
      <Problem error={doing.error} />
      {terms.text === undefined ? (
        <div class="card">
          <Empty icon="doc" title="No terms are on offer">
            The terms say what the platform keeps of a stake. Its staff publish them.
          </Empty>
        </div>
      ) : (
        <section class="card">
          <header>
            <h2>Version {terms.offeredVersion}</h2>
            <Button small icon="print" onPress={() => print()}>
              Print
            </Button>
          </header>
          <div class="in-card terms">
            <Markdown text={terms.text} level={3} />
          </div>
          {isOpen(terms) && <Agree {...{ terms, account }} busy={doing.busy} onAgree={agree} />}
        </section>
      )}
    </PageFrame>
  );
}

interface AgreeProps {
  terms: Terms;
  account: Account;
  busy: boolean;
  onAgree(): void;
}

function Agree({ terms, account, busy, onAgree }: AgreeProps) {
  const [read, setRead] = useState(false);
  if (!mayRule(account)) {
    return <div class="save noprint small quiet">Only an admin of the account can agree.</div>;
  }
  return (
    <div class="save noprint">
      <label class="check small">
        <input
          type="checkbox"
          checked={read}
          onChange={(event) => setRead(event.currentTarget.checked)}
        />
        <span>I have read it and may agree for {account.name}</span>
      </label>
      <Button kind="pri" busy={busy} disabled={!read} onPress={onAgree}>
        Agree to version {terms.offeredVersion}
      </Button>
    </div>
  );
}
