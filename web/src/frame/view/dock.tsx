import { Button } from '../../design/button';
import { Icon } from '../../design/icon';
import type { IconName } from '../../design/icon';
import { adapterOf } from '../boards';
import { PASS } from '../boards/cells';
import type { Controller } from '../controller';
import type { Published } from '../published';
import { statesOf } from '../history';
import { isRunning, mayMove } from '../play';
import type { Ending, Match, Play } from '../play';
import { howText, incrementText, opponentName, pastTitle } from '../sentences';
import { resultText, safeKey, stakeText } from '../sentences';
import { NAMES } from '../words/locale';
import type { Locale } from '../words/locale';
import { MarkView } from './mark';
import { Tool } from './tool';
import { useLocale } from './locale';

interface Sentence {
  tone: 'me' | 'they' | 'warn' | 'bad' | 'good' | '';
  /** A picture, or the mark of the side to move. */
  icon: IconName | 'mark';
  title: string;
  hint: string;
}

interface DockProps {
  published: Published;
  controller: Controller;
  inert: boolean;
  /** Whether a card already says what the sentence would say. */
  silent: boolean;
  onResign(): void;
}

/** One sentence about the present state, and the buttons for what the player can do. */
export function Dock({ published, controller, inert, silent, onResign }: DockProps) {
  const locale = useLocale();
  const { play } = published;
  const { match, ending } = play;
  if (ending !== null) {
    return <EndPanel published={published} ending={ending} controller={controller} />;
  }
  if (match === null || silent) return <div class="dock" />;
  const passes = mayMove(play) && match.legalMoves.includes(PASS);
  const sentence =
    published.past === null
      ? sentenceOf(published, match, locale)
      : pastOf(published.past, match, locale);
  if (published.refusal !== null) sentence.hint = locale.text(published.refusal);
  return (
    <div class={passes ? 'dock stack' : 'dock'} inert={inert}>
      <Say sentence={sentence} match={match} />
      <div class="acts">
        <Steps published={published} controller={controller} />
        {published.past === null && isRunning(play) && play.socket.kind === 'open' && (
          <Button kind="bare" icon="flag" onPress={onResign}>
            {locale.text('resign')}
          </Button>
        )}
        {published.past === null && passes && (
          <Button kind="pri" onPress={() => controller.move(PASS)}>
            {locale.text('yours.passButton')}
          </Button>
        )}
      </div>
    </div>
  );
}

/**
 * Buttons that step through the moves, and lead back to the newest position. The first two never
 * move: the third one appears where the button that resigns was.
 */
function Steps({ published, controller }: Pick<DockProps, 'published' | 'controller'>) {
  const locale = useLocale();
  const { play, past } = published;
  const { match } = play;
  if (match === null || statesOf(match) === null) return null;
  const by = (moves: number) => () => controller.step(moves);
  return (
    <span class="steps">
      <Tool
        icon="left"
        off={(past ?? match.ply) === 0}
        name={locale.text('past.back')}
        onPress={by(-1)}
      />
      <Tool icon="right" off={past === null} name={locale.text('past.on')} onPress={by(1)} />
      {past !== null && (
        <Tool icon="skip" name={locale.text('past.live')} onPress={by(Infinity)} />
      )}
    </span>
  );
}

/** Returns what the dock says of an old position. It also says whose turn it is. */
function pastOf(past: number, match: Match, locale: Locale): Sentence {
  const yours = match.turn === match.you;
  const name = opponentName(match, locale);
  const hint = yours ? locale.text('yours') : locale.text('theirs', { name });
  const title = pastTitle(match, past, locale);
  return { tone: yours ? 'warn' : '', icon: 'clock', title, hint };
}

function Say({ sentence, match }: { sentence: Sentence; match: Match | null }) {
  const { title, hint, tone, icon } = sentence;
  const adapter = adapterOf(match?.gameId ?? '');
  return (
    <div class={`say ${tone}`}>
      {icon !== 'mark' && <Icon name={icon} spins={icon === 'load'} />}
      {icon === 'mark' && adapter !== null && match !== null && (
        <span class="mini">
          <MarkView gameId={adapter.gameId} side={match.turn} shape={adapter.sign(match.turn)} />
        </span>
      )}
      <div>
        <h2 class="headline">
          <Named text={title} />
        </h2>
        {hint !== '' && (
          <p>
            <Named text={hint} />
          </p>
        )}
      </div>
    </div>
  );
}

/** A sentence. Only a name in it that is too long for a line is cut. */
function Named({ text }: { text: string }) {
  const parts = text.split(NAMES);
  return <>{parts.map((part, at) => (at % 2 ? <bdi key={at}>{part}</bdi> : part))}</>;
}

/** Returns what the dock says while a match runs. */
function sentenceOf(published: Published, match: Match, locale: Locale): Sentence {
  const { play } = published;
  const name = opponentName(match, locale);
  const started = typeof match.deadlineAtMs === 'number';
  if (play.socket.kind !== 'open') {
    const title = locale.text('offline.title');
    return { tone: 'warn', icon: 'load', title, hint: locale.text(safeKey(match)) };
  }
  if (match.turn === match.you) return yoursOf(published, match, locale);
  if (!(match.opponent.connected ?? false)) {
    const hint = locale.text(started ? 'theirs.awayHint' : 'unstarted');
    return { tone: 'warn', icon: 'unplug', title: locale.text('theirs.away', { name }), hint };
  }
  const hint = locale.text(started ? 'theirs.hint' : 'unstarted');
  const tone = started ? 'they' : '';
  return { tone, icon: 'mark', title: locale.text('theirs', { name }), hint };
}

function yoursOf({ play, low }: Published, match: Match, locale: Locale): Sentence {
  const adapter = adapterOf(match.gameId);
  if (match.legalMoves.includes(PASS)) {
    const [title, hint] = [locale.text('yours.pass'), locale.text('yours.passHint')];
    return { tone: 'me', icon: 'skip', title, hint };
  }
  const check = adapter?.board(match.state, match.you, null)?.check === true;
  const title = locale.text(check ? 'yours.check' : 'yours');
  // The title stays, so that it does not flicker for the time that the answer takes.
  if (play.pendingMove !== null) {
    return { tone: 'me', icon: 'mark', title, hint: locale.text('sending') };
  }
  if (low) return { tone: 'bad', icon: 'alert', title, hint: locale.text('yours.low') };
  if (check) return { tone: 'bad', icon: 'alert', title, hint: locale.text('yours.checkHint') };
  const started = typeof match.deadlineAtMs === 'number';
  const key = started && adapter !== null ? (`hint.${adapter.gameId}` as const) : 'unstarted';
  // A player who moves for the first time is told what that does to the clock.
  const first = started && match.ply < 2 && incrementText(match, locale);
  return { tone: 'me', icon: 'mark', title, hint: first || locale.text(key) };
}

interface EndPanelProps {
  published: Published;
  ending: Ending;
  controller: Controller;
}

/** Who won, how, what the player gets, and what comes next. */
function EndPanel({ published, ending, controller }: EndPanelProps) {
  const { play, again } = published;
  const locale = useLocale();
  const how = howText(ending, play.match, locale);
  const next = nextText(play, locale);
  const parts = [how, stakeText(play, ending, locale), next];
  const sentence: Sentence = {
    tone: ending.result === 'won' ? 'good' : '',
    icon: iconOf(ending),
    title: resultText(play, ending, locale),
    hint: again === 'late' ? locale.text('end.late') : parts.filter(Boolean).join(' '),
  };
  return (
    <div class={`dock end ${ending.result ?? ''} ${next && 'long'}`}>
      <Say sentence={sentence} match={play.match} />
      <div class="acts">
        <Steps published={published} controller={controller} />
        {again !== 'no' && (
          <Button
            kind="pri"
            icon="again"
            disabled={again === 'asked'}
            onPress={() => controller.playAgain()}
          >
            {locale.text(again === 'asked' ? 'end.asked' : 'end.again')}
          </Button>
        )}
      </div>
    </div>
  );
}

function iconOf({ outcome, result }: Ending): IconName {
  if (outcome === 'no_contest') return 'back';
  if (result === 'won') return 'cup';
  return result === 'drawn' ? 'draw' : 'flag';
}

function nextText({ seat }: Play, locale: Locale): string {
  return seat === null || seat === 'none' ? '' : locale.text('end.waiting');
}
