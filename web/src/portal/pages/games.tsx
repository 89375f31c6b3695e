import { useState } from 'preact/hooks';
import type { Environment } from '../api';
import { BoldFirst, mayRule, mayWrite, PageFrame, Problem, useAct, useReading } from '../page';
import type { PageProps } from '../page';
import { Button } from '../parts/button';
import { Card } from '../parts/card';
import { Dialog, Question, WillHappen } from '../parts/dialog';
import { Empty, Tag } from '../parts/note';
import { Table } from '../parts/table';
import type { Column } from '../parts/table';
import { answerOf, capital, hasLiveAct, liveAct, testAct } from '../words/games';
import type { Act, Game } from '../words/games';

function InLive({ game }: { game: Game }) {
  const { live, test, note } = game;
  if (live === 'none') {
    return <span class="quiet">{test ? 'not requested' : 'turn it on in test first'}</span>;
  }
  const tags = {
    requested: (
      <Tag tone="warn" icon="clock">
        requested
      </Tag>
    ),
    granted: (
      <Tag tone="good" icon="check">
        granted
      </Tag>
    ),
    denied: <Tag tone="bad">denied</Tag>,
    withdrawn: <Tag icon="no">withdrawn</Tag>,
  };
  return (
    <>
      {tags[live]}
      {note !== undefined && <small>{note}</small>}
    </>
  );
}

function columnsOf(
  offered: (game: Game) => Act | null,
  busy: boolean,
  onAct: (act: Act) => void,
): readonly Column<Game>[] {
  return [
    {
      head: 'Game',
      cell: ({ name, gameId }) => (
        <>
          {name} <code class="quiet under">{gameId}</code>
        </>
      ),
    },
    {
      head: 'In test',
      cell: ({ test }) =>
        test ? (
          <Tag tone="good" icon="check">
            on
          </Tag>
        ) : (
          <Tag>off</Tag>
        ),
    },
    { head: 'In live', cell: (game) => <InLive game={game} /> },
    {
      head: '',
      cell: (game) => {
        const act = offered(game);
        if (act === null) return null;
        return (
          <Button
            small
            {...(act.loses ? { kind: 'no' } : {})}
            busy={busy}
            about={act.about}
            onPress={() => onAct(act)}
          >
            {act.short}
          </Button>
        );
      },
    },
  ];
}

export default function Games({ api, account, environment, tell }: PageProps) {
  const { value, error, readAgain } = useReading<{ games: Game[] }>(api, 'games?limit=500');
  const doing = useAct(readAgain);
  const [asking, ask] = useState<Act | null>(null);
  const games = value?.games ?? [];
  const run = (act: Act) => {
    ask(null);
    void doing.act(async () => {
      await api.write(act.what, act.method, act.path);
      tell(act.done);
    });
  };
  const offered = (game: Game): Act | null => {
    if (environment === 'test') return mayWrite(account) ? testAct(game) : null;
    return mayRule(account) && hasLiveAct(game) ? liveAct(game) : null;
  };
  return (
    <PageFrame
      title="Games"
      answer={<BoldFirst parts={answerOf(games, environment)} />}
      error={error}
      loading={value === null}
    >
      <Problem error={doing.error} />
      <Card
        flush
        foot="In test, a change counts at once. In live, the platform grants access to each game."
      >
        {games.length === 0 ? (
          <Empty icon="game" title="The platform runs no game yet">
            Games that it runs stand here, to be turned on.
          </Empty>
        ) : (
          <Table
            label="Games"
            columns={columnsOf(offered, doing.busy, (act) =>
              act.will.length === 0 ? run(act) : ask(act),
            )}
            rows={games}
            keyOf={(game) => game.gameId}
          />
        )}
      </Card>
      {asking !== null && (
        <Ask
          act={asking}
          {...{ environment }}
          onAct={() => run(asking)}
          onLeave={() => ask(null)}
        />
      )}
    </PageFrame>
  );
}

interface AskProps {
  act: Act;
  environment: Environment;
  onAct(): void;
  onLeave(): void;
}

function Ask({ act, environment, onAct, onLeave }: AskProps) {
  const said = capital(act.what);
  const common = { title: `${said}?`, environment, onLeave };
  if (act.loses) return <Question {...common} act={said} will={act.will} onAct={onAct} />;
  const foot = (
    <>
      <Button onPress={onLeave}>Not yet</Button>
      <Button kind="pri" autofocus onPress={onAct}>
        {said}
      </Button>
    </>
  );
  return (
    <Dialog {...common} foot={foot}>
      <WillHappen lines={act.will} />
    </Dialog>
  );
}
