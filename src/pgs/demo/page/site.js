// @ts-check
// The page of a partner. It calls the partner's backend, and mounts frames with the service's
// helper. It never sees a key.

/** @typedef {{ players: string[], match: { gameId: string, matchId: string } | null }} Table */

const ROWS_MAX = 24;
const NUDGES_MAX = 8;
const AGAIN_MS = 1000;
const FIELDS = [
  'playerId', 'opponentPlayerId', 'gameId', 'outcome', 'result', 'endReason',
  'stakeUsdCents', 'payoutUsdCents', 'refundUsdCents', 'rakeUsdCents', 'revision',
];

const game = /** @type {HTMLSelectElement} */ (document.getElementById('game'));
const launch = /** @type {HTMLFormElement} */ (document.getElementById('launch'));
const button = /** @type {HTMLButtonElement} */ (launch.querySelector('button'));
const status = /** @type {HTMLElement} */ (document.getElementById('status'));
const frames = /** @type {HTMLElement} */ (document.getElementById('frames'));
const feed = /** @type {HTMLTableSectionElement} */ (document.querySelector('#feed tbody'));
const nudges = /** @type {HTMLElement} */ (document.getElementById('nudges'));

/** @type {{ unmount(): void }[]} */
let mounted = [];
/** @type {Map<string, HTMLTableRowElement>} */
const rows = new Map();

/**
 * @param {string} path
 * @param {object} [body]
 */
async function call(path, body) {
  const how = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  };
  const answer = await fetch(path, body === undefined ? {} : how);
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error);
  return told;
}

/** @param {Table} table */
function show(table) {
  for (const frame of mounted) frame.unmount();
  mounted = [];
  frames.replaceChildren();
  if (table.match === null) return;
  const { gameId, matchId } = table.match;
  game.value = gameId;
  frames.dataset.match = matchId;
  status.textContent = table.players.length > 1 ? 'Play both sides.' : 'You play against a bot.';
  const helper = /** @type {any} */ (window).PgsEmbed;
  if (helper === undefined) {
    status.textContent = 'The service offers no frame: build it with scripts/web.';
    return;
  }
  table.players.forEach((name, player) => {
    const article = document.createElement('article');
    const heading = document.createElement('h2');
    heading.textContent = name;
    article.append(heading);
    frames.append(article);
    mounted.push(
      helper.mount(article, {
        session: () => call('/play/session', { gameId, player }),
        title: `${name}'s game`,
        height: '680px',
        onError: (/** @type {{ reason: string }} */ error) => {
          status.textContent = `${name}'s frame: ${error.reason}`;
        },
      }),
    );
  });
}

launch.addEventListener('submit', async (event) => {
  event.preventDefault();
  button.disabled = true;
  try {
    show(await call('/play/match', { gameId: game.value }));
  } catch (error) {
    status.textContent = String(error);
  } finally {
    button.disabled = false;
  }
});

/** @param {any} row */
function showRow(row) {
  const name = `${row.matchId} ${row.playerId}`;
  rows.get(name)?.remove();
  const line = document.createElement('tr');
  line.className = 'new';
  line.dataset.match = row.matchId;
  line.dataset.player = row.playerId;
  for (const field of FIELDS) line.insertCell().textContent = row[field] ?? '–';
  feed.prepend(line);
  rows.set(name, line);
  while (feed.rows.length > ROWS_MAX) {
    const last = feed.rows[feed.rows.length - 1];
    last?.remove();
    rows.delete(`${last?.dataset.match} ${last?.dataset.player}`);
  }
}

/** @param {{ arrivedAtMs: number, problem: string | null }} nudge */
function showNudge(nudge) {
  const line = document.createElement('li');
  const at = new Date(nudge.arrivedAtMs).toISOString().slice(11, 23);
  const verdict = nudge.problem === null ? 'verified' : `refused: ${nudge.problem}`;
  line.textContent = `${at} UTC, ${verdict}`;
  nudges.prepend(line);
  while (nudges.children.length > NUDGES_MAX) nudges.lastElementChild?.remove();
}

async function follow() {
  let after = 0;
  for (;;) {
    try {
      const news = await call(`/play/news?after=${after}`);
      if (news.entries.some((/** @type {any} */ entry) => entry.row)) {
        for (const older of feed.querySelectorAll('.new')) older.classList.remove('new');
      }
      for (const entry of news.entries) {
        if (entry.row) showRow(entry.row);
        if (entry.nudge) showNudge(entry.nudge);
      }
      after = news.last;
    } catch {
      await new Promise((done) => setTimeout(done, AGAIN_MS));
    }
  }
}

show(await call('/play/match'));
void follow();

export {};
