/** A test match inside the portal, played on both sides, with what a server would see of it. */

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Api } from '../api';
import { Cancelled, Refused } from '../api';
import { headline, isPaid, moneySaid } from '../match/match';
import type { Life } from '../match/match';
import { useLive } from '../now/live';
import type { LiveEvent } from '../now/live';
import { helpOf, readAdvice } from '../now/refusals';
import { mayWrite, PageFrame, Problem, useReading } from '../page';
import type { PageProps } from '../page';
import { Button, LinkButton } from '../parts/button';
import { Card } from '../parts/card';
import { WillHappen } from '../parts/dialog';
import { dollars } from '../parts/format';
import { Empty, Note } from '../parts/note';
import { linkTo } from '../routes';
import { Decide } from '../try/decide';
import { PlayerFrame } from '../try/frames';
import type { FrameNews, Player } from '../try/frames';
import { Seen } from '../try/seen';
import type { Tried } from '../try/seen';

interface Game {
  gameId: string;
  name: string;
  test: boolean;
}

interface Tier {
  tierId: string;
  name: string;
  prizeUsdCents: number;
  entryUsdCents: number;
  games: string[];
}

interface Match {
  tried: Tried;
  gameId: string;
}

/** How often the match is read until its money is recorded, in milliseconds. */
const LOOK_MS = 1000;

/** Reads the match at each event about it, and again and again until its money is recorded. */
function useLife(api: Api, match: Match | null): Life | null {
  const [life, set] = useState<Life | null>(null);
  const matchId = match?.tried.matchId ?? null;
  const reading = useRef<Promise<void> | null>(null);
  const wanted = useRef(matchId);
  wanted.current = matchId;
  const read = () => {
    if (matchId === null) return;
    reading.current ??= api
      .read<Life>(`matches/${matchId}?environment=test`)
      .then(
        (found) => {
          if (wanted.current === matchId) set(found);
        },
        () => undefined,
      )
      .finally(() => (reading.current = null));
  };
  useEffect(() => {
    set(null);
    read();
  }, [matchId]);
  useLive(api, 'test', (events: readonly LiveEvent[]) => {
    if (events.some((event) => 'matchId' in event && event.matchId === matchId)) read();
  });
  const settled = life !== null && life.match.status !== 'started' && isPaid(life.match);
  useEffect(() => {
    if (matchId === null || settled) return;
    const timer = setInterval(read, LOOK_MS);
    return () => clearInterval(timer);
  }, [matchId, settled]);
  return matchId === null ? null : life;
}

/** The match that is tried, and a function that seats two players for another one. */
function useTried(api: Api, tell: (text: string) => void) {
  const [match, setMatch] = useState<Match | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const seat = async (gameId: string, tierId: string) => {
    setBusy(true);
    setError(null);
    try {
      const asked = { gameId, tierId };
      const tried = await api.write<Tried>('seat two players', 'POST', 'test-match', asked);
      setMatch({ tried, gameId });
      tell('Two players are seated.');
    } catch (failed) {
      if (failed instanceof Cancelled) return;
      setError(failed);
      setMatch(null);
    } finally {
      setBusy(false);
    }
  };
  return { match, error, busy, seat };
}

export default function TryIt({ api, account, tell }: PageProps) {
  const games = useReading<{ games: Game[] }>(api, 'games');
  const tiers = useReading<{ tiers: Tier[] }>(api, 'tiers?environment=test');
  const hook = useReading<{ webhook?: { enabled: boolean } }>(api, 'webhooks/test');
  const { match, error, busy, seat } = useTried(api, tell);
  const [news, setNews] = useState<FrameNews | null>(null);
  const life = useLife(api, match);
  const onNews = (player: Player, told: FrameNews) => {
    if (told.type === 'pgs.error' || player === match?.tried.players[0]) setNews(told);
  };
  useEffect(() => setNews(null), [match]);
  const ended = life !== null && life.match.status !== 'started';
  return (
    <PageFrame
      title="Try it"
      answer={<Answer match={match} life={life} news={news} error={error} />}
      error={games.error ?? tiers.error}
      loading={games.value === null || tiers.value === null}
    >
      {mayWrite(account) ? (
        <Choice
          games={games.value?.games ?? []}
          tiers={tiers.value?.tiers ?? []}
          again={ended}
          playing={match !== null && !ended}
          busy={busy}
          onSeat={seat}
        />
      ) : (
        <Note>
          A viewer can watch. Ask a developer or an admin of the account to seat two players.
        </Note>
      )}
      <RefusedNote error={error} />
      {match === null && error === null && mayWrite(account) && <Begin />}
      {match !== null && (
        <>
          <div class="players">
            {match.tried.players.map((player) => (
              <PlayerFrame key={player.playerId} player={player} onNews={onNews} />
            ))}
          </div>
          {ended ? <Next matchId={match.tried.matchId} /> : <Decide tried={match.tried} />}
          <Seen {...match} life={life} webhook={webhookOf(hook.value)} />
        </>
      )}
    </PageFrame>
  );
}

const webhookOf = (read: { webhook?: { enabled: boolean } } | null) =>
  read === null ? null : (read.webhook?.enabled ?? false);

interface AnswerProps {
  match: Match | null;
  life: Life | null;
  news: FrameNews | null;
  error: unknown;
}

function Answer({ match, life, news, error }: AnswerProps) {
  if (error instanceof Refused) return <strong>These seats were refused.</strong>;
  if (match === null) {
    return (
      <>
        <strong>A real test match in this page, played by you on both sides.</strong> It goes the
        way your server’s calls will go. No key comes near the browser.
      </>
    );
  }
  if (life !== null && life.match.status !== 'started') {
    const told = life.nudges.some((nudge) => nudge.delivered);
    return (
      <>
        <strong>
          Done: {nameIn(match, headline(life.match))}. {nameIn(match, moneySaid(life.match))}.
        </strong>{' '}
        {told && 'Your server was nudged. '}Now do the same <a href="/docs/">from your server</a>.
      </>
    );
  }
  if (news?.type === 'pgs.state' && news.turn !== undefined) {
    const mover = match.tried.players[news.turn as 0 | 1];
    return (
      <>
        <strong>{mover?.displayName} is to move.</strong> Play in both frames, or end it with a
        call.
      </>
    );
  }
  return <strong>Both are seated. Their frames are loading.</strong>;
}

/** Returns a sentence with the two players' short names in place of their ids. */
const nameIn = ({ tried }: Match, text: string) =>
  tried.players.reduce(
    (said, player) => said.replaceAll(player.playerId, player.displayName),
    text,
  );

interface ChoiceProps {
  games: readonly Game[];
  tiers: readonly Tier[];
  again: boolean;
  playing: boolean;
  busy: boolean;
  onSeat(gameId: string, tierId: string): void;
}

function Choice({ games, tiers, again, playing, busy, onSeat }: ChoiceProps) {
  const on = games.filter((game) => game.test);
  const [picked, pick] = useState('');
  const [tier, pickTier] = useState('');
  const game = on.find((other) => other.gameId === picked) ?? on[0];
  const offered = tiers.filter((other) => game !== undefined && other.games.includes(game.gameId));
  const chosen = offered.find((other) => other.tierId === tier) ?? offered[0];
  if (game === undefined) return <NoGame />;
  if (chosen === undefined) {
    return (
      <Note tone="warn">
        No tier is on offer for {game.name} in test. The platform sets them.
      </Note>
    );
  }
  const send = (event: Event) => {
    event.preventDefault();
    onSeat(game.gameId, chosen.tierId);
  };
  return (
    <form class="row end" onSubmit={send}>
      <div class="field">
        <label for="try-game">Game</label>
        <select
          id="try-game"
          class="in"
          value={game.gameId}
          onChange={(event) => pick(event.currentTarget.value)}
        >
          {on.map((other) => (
            <option key={other.gameId} value={other.gameId}>
              {other.name}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for="try-tier">Tier</label>
        <select
          id="try-tier"
          class="in"
          value={chosen.tierId}
          onChange={(event) => pickTier(event.currentTarget.value)}
        >
          {offered.map((other) => (
            <option key={other.tierId} value={other.tierId}>
              {other.name}, {dollars(other.entryUsdCents)} for {dollars(other.prizeUsdCents)}
            </option>
          ))}
        </select>
      </div>
      <Button {...(playing ? {} : { kind: 'pri' })} icon="play" busy={busy}>
        {again || playing ? 'Seat two others' : 'Seat two test players'}
      </Button>
    </form>
  );
}

/** What will happen, until two players are seated. */
function Begin() {
  return (
    <Card title="What will happen">
      <WillHappen
        lines={[
          { icon: 'people', says: 'Two test players sit down together, with play money.' },
          { icon: 'play', says: 'Both frames open here as your players will see them. Play both.' },
          { icon: 'pulse', says: 'Below them stand the feed, the nudges, and each call as curl.' },
          { icon: 'find', says: 'At the end you get the timeline that support reads.' },
        ]}
      />
    </Card>
  );
}

function NoGame() {
  return (
    <Card flush>
      <Empty
        icon="game"
        title="No game is on in test"
        acts={
          <LinkButton kind="pri" href={linkTo('test', 'games')}>
            Turn a game on
          </LinkButton>
        }
      >
        A game is turned on for test at once. Then two test players can sit down here.
      </Empty>
    </Card>
  );
}

/** Why the seats were refused, in the words that a server would get, and what helps. */
function RefusedNote({ error }: { error: unknown }) {
  const [advice, set] = useState('');
  const reason = error instanceof Refused ? error.reason : '';
  useEffect(() => {
    set('');
    if (reason === '') return;
    readAdvice().then(
      (all) => set(all.get(reason)?.advice ?? ''),
      () => set(''),
    );
  }, [reason]);
  if (!(error instanceof Refused)) return <Problem error={error} />;
  const help = helpOf('test', reason);
  const act = help !== null && (
    <LinkButton kind="pri" href={help.href}>
      {help.act}
    </LinkButton>
  );
  return (
    <Note tone="warn" alert act={act}>
      {error.message} {advice.replaceAll('`', '')}{' '}
      <code>
        {reason} {error.requestId}
      </code>
      <br />
      Your server would get the same answer.
    </Note>
  );
}

function Next({ matchId }: { matchId: string }) {
  return (
    <div class="row">
      <LinkButton href={linkTo('test', 'matches', matchId)} icon="clock">
        Its timeline
      </LinkButton>
      <LinkButton href={linkTo('live', '')} icon="next">
        What is missing for live
      </LinkButton>
    </div>
  );
}
