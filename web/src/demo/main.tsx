/** The page of the demo's partner. It never sees a key. */

import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import '../design/tokens.css';
import '../design/pages.css';
import '../design/base.css';
import './site.css';
import { begin, follow, readSiteState, StillRunning } from './backend';
import type { SiteState } from './backend';
import { Feed, Nudges } from './feed';
import { helper, Seat } from './frames';
import type { Heard } from './frames';
import { Inspector } from './inspector';
import { NOTHING, withEntries } from './news';
import type { News } from './news';
import { Question } from './question';

const HEARD_MAX = 60;
const NO_FRAME = 'The service offers no frame: build it with scripts/web.';

function statusOf(site: SiteState): string {
  if (helper() === undefined) return NO_FRAME;
  if (site.match === null) return 'Choose a game and begin.';
  return site.players.length > 1 ? 'Play both sides.' : 'You play against a bot.';
}

/** The news of the backend. */
function useNews(): News {
  const [news, setNews] = useState<News>(NOTHING);
  useEffect(() => {
    void follow((entries) => setNews((before) => withEntries(before, entries)));
  }, []);
  return news;
}

/** The state of the page's match, and the functions that begin one. */
function useSiteState(first: SiteState) {
  const [site, setSite] = useState(first);
  const [status, setStatus] = useState(statusOf(first));
  const [busy, setBusy] = useState(false);
  /**
   * The game that was chosen while a match runs. The page then asks whether to end that match. Null
   * if there is nothing to ask.
   */
  const [asking, ask] = useState<string | null>(null);
  /** Rises by one with each match that gets new frames. */
  const [round, setRound] = useState(0);
  const start = async (gameId: string, remount: boolean, voids?: string) => {
    setBusy(true);
    try {
      const begun = await begin(gameId, voids);
      setSite(begun);
      setStatus(statusOf(begun));
      if (remount) setRound((before) => before + 1);
    } catch (error) {
      if (!(error instanceof StillRunning)) setStatus(String(error));
      else if (remount) {
        setSite(error.state);
        ask(gameId);
      }
    } finally {
      setBusy(false);
    }
  };
  return { site, status, setStatus, busy, asking, ask, round, start };
}

interface LaunchProps {
  site: SiteState;
  status: string;
  busy: boolean;
  onLaunch(gameId: string): void;
}

function Launch({ site, status, busy, onLaunch }: LaunchProps) {
  const [gameId, choose] = useState(site.match?.gameId ?? site.games[0]?.gameId ?? '');
  const launch = (event: Event) => {
    event.preventDefault();
    onLaunch(gameId);
  };
  return (
    <header>
      <h1>The demo partner's games</h1>
      <form class="row" onSubmit={launch}>
        <label for="game">Game</label>
        <select
          id="game"
          class="btn"
          value={gameId}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          {site.games.map((game) => (
            <option key={game.gameId} value={game.gameId}>
              {game.name}
            </option>
          ))}
        </select>
        <button class="btn pri" disabled={busy}>
          New match
        </button>
      </form>
      <p id="status" role="status">
        {status}
      </p>
    </header>
  );
}

function Site({ first }: { first: SiteState }) {
  const { site, status, setStatus, busy, asking, ask, round, start } = useSiteState(first);
  const { rows, nudges, calls, fresh } = useNews();
  const [heard, setHeard] = useState<Heard[]>([]);
  const count = useRef(0);
  const onHeard = (player: string, message: Heard['message']) => {
    const one = { number: (count.current += 1), atMs: Date.now(), player, message };
    setHeard((before) => [one, ...before].slice(0, HEARD_MAX));
    if (message.type === 'pgs.error') setStatus(`${player}'s frame: ${message.reason}`);
  };
  const { match, games, players } = site;
  const onEnd = (gameId: string) => {
    ask(null);
    void start(gameId, true, match?.matchId);
  };
  const seat = (name: string, player: number, gameId: string) => (
    <Seat
      key={`${round} ${gameId} ${player}`}
      {...{ gameId, player, name, onHeard }}
      onAgain={() => void start(gameId, false)}
    />
  );
  return (
    <>
      <Launch {...{ site, status, busy }} onLaunch={(gameId) => void start(gameId, true)} />
      <main data-match={match?.matchId}>
        <div class="frames">
          {match !== null &&
            helper() !== undefined &&
            players.map((name, player) => seat(name, player, match.gameId))}
        </div>
        <div class="below">
          <div>
            <Feed {...{ rows, games, fresh }} />
            <Nudges nudges={nudges} />
          </div>
          <Inspector calls={calls} heard={heard} keyLine={site.keyLine} />
        </div>
      </main>
      {asking !== null && match !== null && (
        <Question
          game={games.find((game) => game.gameId === match.gameId)?.name ?? match.gameId}
          stakeUsdCents={site.stakeUsdCents}
          onStay={() => ask(null)}
          onEnd={() => onEnd(asking)}
        />
      )}
    </>
  );
}

readSiteState().then(
  (site) => render(<Site first={site} />, document.getElementById('site')!),
  (error) => document.getElementById('site')!.append(String(error)),
);
