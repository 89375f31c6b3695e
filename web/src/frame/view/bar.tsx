import { isGame } from '../boards';
import type { Controller } from '../controller';
import type { Published } from '../published';
import { amountsOf, isRunning } from '../play';
import type { Match, Play } from '../play';
import { opponentName } from '../sentences';
import { logoAddress } from '../theme';
import type { Sound } from './frame';
import { Tool } from './tool';
import { useLocale } from './locale';

interface BarProps {
  published: Published;
  controller: Controller;
  sound: Sound;
  inert: boolean;
}

/** The partner, the game, the stake and the prize, the connection, and the sound. */
export function Bar({ published: { play }, controller, sound, inert }: BarProps) {
  const locale = useLocale();
  const connected = play.socket.kind === 'open';
  return (
    <header class="bar" inert={inert}>
      <Brand play={play} />
      {play.others.length > 0 && play.match !== null && isRunning(play) && (
        <Switch play={play} match={play.match} controller={controller} />
      )}
      <Pot play={play} />
      <span
        class={connected ? 'net' : 'net off'}
        role="img"
        aria-label={locale.text(connected ? 'net.on' : 'net.off')}
      >
        <i />
        <i />
        <i />
      </span>
      <Tool
        icon={sound.on ? 'soundOn' : 'soundOff'}
        name={locale.text('sound')}
        pressed={sound.on}
        onPress={sound.toggle}
      />
    </header>
  );
}

function Brand({ play }: { play: Play }) {
  const locale = useLocale();
  const theme = play.session?.theme;
  const logo = logoAddress(theme);
  const name = theme?.displayName ?? '';
  const gameId = play.match?.gameId ?? play.session?.gameId ?? '';
  const game = locale.text(isGame(gameId) ? `game.${gameId}` : 'game');
  return (
    <div class="brand">
      {logo !== null && <img src={logo} alt={name === '' ? locale.text('logo') : ''} />}
      <h1>
        {name !== '' && <b dir="auto">{name}</b>}
        <span>{game}</span>
      </h1>
    </div>
  );
}

function Pot({ play }: { play: Play }) {
  const locale = useLocale();
  const amounts = amountsOf(play);
  if (amounts === null) return null;
  return (
    <dl class="pot">
      <div>
        <dt>{locale.text('stake')}</dt>
        <dd>{locale.money(amounts.stake)}</dd>
      </div>
      <div>
        <dt>{locale.text('prize')}</dt>
        <dd>{locale.money(amounts.prize)}</dd>
      </div>
    </dl>
  );
}

interface SwitchProps {
  play: Play;
  match: Match;
  controller: Controller;
}

/** All running matches of a player who has several, to choose from. */
function Switch({ play, match, controller }: SwitchProps) {
  const locale = useLocale();
  // Always in the same order, whichever match is on the screen.
  const all = [match, ...play.others].sort((one, other) => (one.matchId < other.matchId ? -1 : 1));
  const label = (one: Match): string =>
    locale.text(one.turn === one.you ? 'matches.you' : 'matches.they', {
      name: opponentName(one, locale),
    });
  return (
    <select
      class="switch"
      aria-label={locale.text('matches')}
      value={match.matchId}
      onChange={(event) => controller.switchTo(event.currentTarget.value)}
    >
      {all.map((one) => (
        <option key={one.matchId} value={one.matchId}>
          {label(one)}
        </option>
      ))}
    </select>
  );
}
