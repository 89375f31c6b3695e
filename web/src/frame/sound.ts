/** Eight short sounds, made of oscillators. No audio file is loaded. */

export type SoundName = 'place' | 'theirs' | 'take' | 'check' | 'turn' | 'low' | 'won' | 'over';

interface Tone {
  wave: OscillatorType;
  /** The pitch glides between these, in hertz. */
  from: number;
  to: number;
  /** When it begins and how long it lasts, in seconds. */
  after: number;
  lasts: number;
  /** The greatest loudness, 0 to 1. */
  peak: number;
}

const tone = (
  wave: OscillatorType,
  [from, to]: [number, number],
  [after, lasts]: [number, number],
  peak: number,
): Tone => ({ wave, from, to, after, lasts, peak });

const SOUNDS: Record<SoundName, Tone[]> = {
  place: [tone('triangle', [320, 180], [0, 0.07], 0.22)],
  theirs: [tone('triangle', [240, 140], [0, 0.07], 0.16)],
  take: [
    tone('triangle', [420, 150], [0, 0.08], 0.26),
    tone('square', [190, 90], [0.02, 0.06], 0.06),
  ],
  check: [
    tone('triangle', [590, 590], [0, 0.1], 0.16),
    tone('triangle', [590, 740], [0.1, 0.16], 0.14),
  ],
  turn: [tone('sine', [660, 660], [0, 0.09], 0.1), tone('sine', [880, 880], [0.09, 0.14], 0.1)],
  low: [tone('square', [520, 520], [0, 0.04], 0.05)],
  won: [
    tone('sine', [523, 523], [0, 0.16], 0.12),
    tone('sine', [659, 659], [0.11, 0.16], 0.12),
    tone('sine', [784, 784], [0.22, 0.34], 0.14),
  ],
  over: [tone('sine', [392, 370], [0, 0.3], 0.1)],
};

/** Loudness that cannot be heard. An exponential ramp cannot start or end at 0. */
const SILENT = 0.0001;
const ATTACK_S = 0.006;

let audio: AudioContext | null = null;

/**
 * Plays a sound. Browsers allow it only after the player has pressed something. Sounds that
 * were asked for before would then be heard all at once, so they are dropped.
 */
export function play(name: SoundName): void {
  if (navigator.userActivation?.hasBeenActive === false) return;
  audio ??= new AudioContext();
  for (const { wave, from, to, after, lasts, peak } of SOUNDS[name]) {
    const at = audio.currentTime + after;
    const source = audio.createOscillator();
    const gain = audio.createGain();
    source.type = wave;
    source.frequency.setValueAtTime(from, at);
    source.frequency.exponentialRampToValueAtTime(to, at + lasts);
    gain.gain.setValueAtTime(SILENT, at);
    gain.gain.exponentialRampToValueAtTime(peak, at + ATTACK_S);
    gain.gain.exponentialRampToValueAtTime(SILENT, at + lasts);
    source.connect(gain).connect(audio.destination);
    source.start(at);
    source.stop(at + lasts + 0.02);
  }
}
