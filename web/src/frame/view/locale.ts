import { BUILT_IN } from '../words/speaker';
import type { Speaker } from '../words/speaker';

let speaker = BUILT_IN;

/** Sets the language in which the frame is drawn from now on. There is one frame in a document. */
export const speakAs = (next: Speaker): void => {
  speaker = next;
};

/** Returns the speaker of that language. A change of it draws everything again. */
export const useSpeaker = (): Speaker => speaker;
