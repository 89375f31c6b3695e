/** What is asked before a key is replaced or revoked, and the new key, shown once. */

import { useEffect, useState } from 'preact/hooks';
import type { Api, Environment } from '../api';
import { keyOf } from '../now/curl';
import { ROTATION_DAYS, ROTATION_S } from '../parts/bounds';
import { Button } from '../parts/button';
import { Code } from '../parts/copy';
import { Dialog, Question, Secret, WillHappen } from '../parts/dialog';
import { useHeld } from '../parts/draft';
import { agoOf, timeOf } from '../parts/format';
import { Icon } from '../parts/icon';
import { Note } from '../parts/note';
import type { Key } from '../words/keys';

export interface Minted {
  keyId: string;
  label: string;
  apiKey: string;
}

export interface Asked {
  act: 'rotate' | 'revoke';
  key: Key;
}

/** How often the page checks whether a new key has been used, in milliseconds. */
const LOOK_MS = 3000;

interface DialogsProps {
  api: Api;
  environment: Environment;
  minted: Minted | null;
  asked: Asked | null;
  onStored(): void;
  onAct(asked: Asked): void;
  onLeave(): void;
}

export function KeyDialogs(props: DialogsProps) {
  const { api, environment, minted, asked, onStored, onAct, onLeave } = props;
  if (minted !== null) {
    return <NewSecret key={minted.keyId} {...{ api, environment, minted, onStored }} />;
  }
  if (asked?.act === 'rotate') return <Rotate {...{ environment, asked, onAct, onLeave }} />;
  if (asked?.act === 'revoke') return <Revoke {...{ environment, asked, onAct, onLeave }} />;
  return null;
}

interface AskProps extends Pick<DialogsProps, 'environment' | 'onAct' | 'onLeave'> {
  asked: Asked;
}

function Rotate({ environment, asked, onAct, onLeave }: AskProps) {
  const { label, last4 } = asked.key;
  const until = timeOf(Math.floor(Date.now() / 1000) + ROTATION_S);
  const foot = (
    <>
      <Button onPress={onLeave}>Cancel</Button>
      <Button kind="pri" autofocus onPress={() => onAct(asked)}>
        Rotate the key
      </Button>
    </>
  );
  return (
    <Dialog title={`Rotate ${label}?`} environment={environment} onLeave={onLeave} foot={foot}>
      <WillHappen
        lines={[
          { icon: 'plus', says: 'A new key is made and shown once.' },
          {
            icon: 'clock',
            says:
              `The old one, …${last4}, works until ${until}: ${ROTATION_DAYS} days to ` +
              'change your servers.',
          },
        ]}
      />
    </Dialog>
  );
}

function Revoke({ environment, asked, onAct, onLeave }: AskProps) {
  const { label, last4, lastUsedAt } = asked.key;
  const used =
    lastUsedAt === undefined ? 'It was never used.' : `Its last use: ${agoOf(lastUsedAt)}.`;
  return (
    <Question
      title={`Revoke ${label}?`}
      environment={environment}
      act={`Revoke …${last4} now`}
      will={[
        {
          icon: 'stop',
          tone: 'bad',
          says: `Every call with …${last4} is refused from this second. ${used}`,
        },
        { icon: 'seat', says: 'Players who are playing stay in until their sessions end.' },
        { icon: 'no', says: 'It cannot be brought back.' },
      ]}
      onAct={() => onAct(asked)}
      onLeave={onLeave}
    />
  );
}

/** Whether a key has been used. The service is asked again and again until this is so. */
function useFirstCall(api: Api, keyId: string): boolean {
  const [used, setUsed] = useState(false);
  useEffect(() => {
    if (used) return;
    const look = async () => {
      const { keys } = await api.read<{ keys: Key[] }>('keys?limit=500');
      setUsed(keys.some((key) => key.keyId === keyId && key.lastUsedAt !== undefined));
    };
    const timer = setInterval(() => void look().catch(() => {}), LOOK_MS);
    return () => clearInterval(timer);
  }, [api, keyId, used]);
  return used;
}

interface SecretProps extends Pick<DialogsProps, 'api' | 'environment' | 'onStored'> {
  minted: Minted;
}

/** A new key. Only its button closes it, so that the key is not lost by a slip. */
function NewSecret({ api, environment, minted, onStored }: SecretProps) {
  useHeld(true);
  const used = useFirstCall(api, minted.keyId);
  const bearer = `Authorization: Bearer ${keyOf(environment)}`;
  const call = `curl ${location.origin}/partner/me \\\n  -H "${bearer}"`;
  const foot = (
    <Button kind="pri" onPress={onStored}>
      I have stored it
    </Button>
  );
  return (
    <Dialog
      title={`The key of ${minted.label}`}
      environment={environment}
      onLeave={() => {}}
      foot={foot}
    >
      <Secret secret={minted.apiKey} />
      <Note tone="warn">
        <strong>Shown only once.</strong> Store it where your server reads its secrets, never in a
        page. If it is lost, make another and revoke this one.
      </Note>
      <Code text={call} label="A first call" />
      <p class={used ? 'small good row' : 'small quiet row'} role="status">
        <Icon name={used ? 'check' : 'clock'} />
        {used ? 'Its first call has arrived.' : 'Waiting for its first call …'}
      </p>
    </Dialog>
  );
}
