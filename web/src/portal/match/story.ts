/** The life of a match as a list of steps, in the order in which they happened. */

import type { NameOf } from '../catalog';
import { dollars, many, spanOf } from '../parts/format';
import type { IconName } from '../parts/icon';
import { headline, isPaid, winnerOf, whyEnded } from './match';
import type { LedgerLine, Life, Move, Nudge, Seat } from './match';

export interface StoryStep {
  key: string;
  /** In epoch seconds; null for what is true now. */
  at: number | null;
  /** Begins a part of the story. Its time is shown; the next steps show the time since then. */
  phase?: boolean;
  icon: IconName;
  tone?: 'good' | 'warn' | 'bad';
  title: string;
  says?: string;
  /** An id that belongs to the step. */
  id?: string;
  /** A text that few people need. It is shown when its name is pressed. */
  more?: { name: string; text: string };
  /** The attempt at a delivery that the step is about. */
  attemptId?: string;
}

/** `nameOf`: the name of a tier. */
export function storyOf(life: Life, nameOf: NameOf): StoryStep[] {
  const steps = [
    ...life.seats.flatMap((seat, index) => seatSteps(life, seat, index === 0, nameOf)),
    ...pairingSteps(life),
    ...moveSteps(life),
    ...endSteps(life),
    ...moneySteps(life),
    ...nudgeSteps(life.nudges),
  ];
  // Stored times are whole seconds. Steps with equal times keep the order above.
  const order = new Map(steps.map((step, index) => [step, index]));
  steps.sort((a, b) => Math.floor(a.at!) - Math.floor(b.at!) || order.get(a)! - order.get(b)!);
  return [...steps, nowStep(life)];
}

function seatSteps(life: Life, seat: Seat, first: boolean, nameOf: NameOf): StoryStep[] {
  const reference = seat.partnerRef === undefined ? '' : `, your reference ${seat.partnerRef}`;
  const charged = life.ledger.find((line) => line.kind === 'charge' && line.seatId === seat.seatId);
  const taken: StoryStep = {
    key: seat.seatId,
    at: seat.seatedAt,
    phase: first,
    icon: 'seat',
    title: `${seat.playerId} took a seat`,
    says: `${nameOf(life.match.tierId)}, price ${dollars(seat.stakeUsdCents)}${reference}`,
    id: seat.seatId,
  };
  if (charged === undefined) return [taken];
  const waited = charged.at - seat.seatedAt;
  return [
    taken,
    {
      key: `${seat.seatId} charge`,
      at: charged.at,
      icon: 'coin',
      tone: 'good',
      title: `${dollars(charged.amountUsdCents)} charged to ${seat.playerId}`,
      says: waited < 2 ? 'Confirmed at once' : `Confirmed after ${spanOf(waited)}`,
    },
  ];
}

function whyPaired(life: Life): string {
  const { pairing } = life.match;
  const begins = pairing?.begins === undefined ? '' : ` ${pairing.begins} begins.`;
  const [older, newer] = life.match.seats.map(({ playerId }) => playerId);
  if (pairing?.rule === 'test.v1') {
    const could = `Of all players whom ${newer} could meet at this game and tier`;
    return `${could}, ${older} had waited longest.${begins}`;
  }
  if (pairing?.rule === 'together.v1') return `“Try it” seated the two together.${begins}`;
  if (pairing?.rule === 'live.v1') {
    return `Of all who waited, these two were close enough in skill.${begins}`;
  }
  return begins.trim();
}

function pairingSteps(life: Life): StoryStep[] {
  const { pairing, startedAt } = life.match;
  if (pairing === undefined || startedAt === undefined) return [];
  const { begins: _, ...numbers } = pairing;
  const text = Object.entries(numbers)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ');
  return [
    {
      key: 'paired',
      at: startedAt,
      icon: 'pair',
      title: 'Paired',
      says: whyPaired(life),
      more: { name: 'Numbers', text },
    },
  ];
}

/** The longest thought before a move, counted from the move before it. */
function longestThought(moves: readonly Move[]): { move: Move; seconds: number } | null {
  let longest: { move: Move; seconds: number } | null = null;
  for (const [index, move] of moves.entries()) {
    const before = moves[index - 1];
    if (before === undefined) continue;
    const seconds = (move.atMs - before.atMs) / 1000;
    if (longest === null || seconds > longest.seconds) longest = { move, seconds };
  }
  return longest;
}

function moveSteps(life: Life): StoryStep[] {
  const { moves } = life;
  const first = moves[0];
  const last = moves.at(-1);
  if (first === undefined || last === undefined) return [];
  const thought = longestThought(moves);
  const player = thought && life.match.seats[thought.move.side]?.playerId;
  return [
    {
      key: 'moves',
      at: first.atMs / 1000,
      icon: 'game',
      title: `${many(moves.length, 'move')} in ${spanOf((last.atMs - first.atMs) / 1000)}`,
      ...(thought === null
        ? {}
        : {
            says:
              `Longest thought: ${player}, ${spanOf(thought.seconds)} ` +
              `at move ${thought.move.ply + 1}`,
          }),
      more: { name: 'All moves', text: moves.map((move) => move.move).join(' ') },
    },
  ];
}

function endSteps(life: Life): StoryStep[] {
  const { match } = life;
  if (match.endedAt === undefined) return [];
  const won = winnerOf(match) !== null;
  return [
    {
      key: 'end',
      at: match.endedAt,
      phase: true,
      icon: 'flag',
      tone: won || match.status === 'ended' ? 'good' : 'warn',
      title: headline(match),
      says: `${match.endReason}: ${whyEnded(match)}`,
    },
  ];
}

const totalOf = (lines: readonly LedgerLine[]) =>
  lines.reduce((sum, line) => sum + line.amountUsdCents, 0);

function moneySteps(life: Life): StoryStep[] {
  const paid = life.ledger.filter((line) => line.kind !== 'charge');
  const [first] = paid;
  if (first === undefined) return [];
  const rake = totalOf(paid.filter((line) => line.kind === 'rake'));
  const byPlayer = new Map<string, LedgerLine[]>();
  for (const line of paid.filter((other) => other.kind !== 'rake')) {
    const player = line.credit.replace(/^player:/, '');
    byPlayer.set(player, [...(byPlayer.get(player) ?? []), line]);
  }
  const given = [...byPlayer].map(([player, lines]) => {
    const verb = lines[0]!.kind === 'prize' ? 'paid' : 'given back';
    return `${dollars(totalOf(lines))} ${verb} to ${player}`;
  });
  const stakes = life.match.seats.map((seat) => dollars(seat.stakeUsdCents));
  const parts = [...byPlayer.values()].map((lines) => dollars(totalOf(lines)));
  return [
    {
      key: 'money',
      at: first.at,
      icon: 'coin',
      tone: 'good',
      title: `${given.join(', ')}, ${rake === 0 ? 'nothing' : dollars(rake)} kept as rake`,
      says: `${stakes.join(' + ')} = ${[...parts, dollars(rake)].join(' + ')}`,
    },
  ];
}

const outcomeOf = (nudge: Nudge) =>
  nudge.statusCode === undefined ? (nudge.error ?? 'no answer') : String(nudge.statusCode);

function nudgeSteps(attempts: readonly Nudge[]): StoryStep[] {
  const byNudge = new Map<string, Nudge[]>();
  for (const attempt of attempts) {
    byNudge.set(attempt.nudgeId, [...(byNudge.get(attempt.nudgeId) ?? []), attempt]);
  }
  return [...byNudge].map(([nudgeId, unordered]) => {
    const tries = [...unordered].sort((a, b) => a.try - b.try);
    const last = tries.at(-1)!;
    const { attemptId } = last;
    const step = { key: nudgeId, at: tries[0]!.at, icon: 'bell', attemptId } as const;
    const nudge = last.resend ? 'A resent nudge' : 'A nudge';
    if (last.delivered) {
      return {
        ...step,
        tone: 'good',
        title: `${nudge} was delivered to your server`,
        says: `${outcomeOf(last)} in ${last.durationMs} ms, try ${last.try}`,
      };
    }
    return {
      ...step,
      tone: 'bad',
      title: `${nudge} was not delivered, after ${many(tries.length, 'try', 'tries')}`,
      says: tries.map(outcomeOf).join(', then '),
    };
  });
}

/** Whether the newest nudge of a match reached the partner's server; null without any. */
export function wasTold(nudges: readonly Nudge[]): boolean | null {
  if (nudges.length === 0) return null;
  const newest = nudges.reduce((a, b) => (b.at > a.at || (b.at === a.at && b.try > a.try) ? b : a));
  return newest.delivered;
}

function nowStep({ match, nudges }: Life): StoryStep {
  const now = { key: 'now', at: null, icon: 'clock' } as const;
  if (match.status === 'started') {
    return { ...now, title: 'The match runs', says: 'Its end will appear in the feed.' };
  }
  if (!isPaid(match)) {
    return {
      ...now,
      tone: 'warn',
      title: 'The money is under way',
      says: 'It is paid as soon as settlement confirms it. Nothing has to be done.',
    };
  }
  const rows = many(match.seats.length, 'row');
  return wasTold(nudges) === true
    ? { ...now, title: `All is done: ${rows} in your feed`, says: 'Your server was told.' }
    : {
        ...now,
        title: `The result waits in your feed: ${rows}`,
        says: 'Nothing is lost. Poll GET /partner/results.',
      };
}

/** The text in the column of times: the time when a part begins, else the time since then. */
export function stampOf(since: number, at: number): string {
  const passed = Math.max(0, at - since);
  if (passed < 0.05) return '+ 0 s';
  if (passed < 10) return `+ ${passed.toFixed(Number.isInteger(passed) ? 0 : 1)} s`;
  if (passed < 100) return `+ ${Math.round(passed)} s`;
  const minutes = Math.floor(passed / 60);
  return minutes < 60
    ? `+ ${minutes} min ${Math.round(passed % 60)} s`
    : `+ ${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
