/** The question that is asked before a running match is ended for a new one. */

import { useEffect, useRef } from 'preact/hooks';
import { money } from './words';

interface QuestionProps {
  game: string;
  stakeUsdCents: number;
  onStay(): void;
  onEnd(): void;
}

export function Question({ game, stakeUsdCents, onStay, onEnd }: QuestionProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="card" aria-labelledby="question" onClose={onStay}>
      <h2 id="question">End the running match?</h2>
      <p>
        The match of {game} ends without a winner. Both players get their stake of{' '}
        {money(stakeUsdCents)} back.
      </p>
      <div class="row">
        <button type="button" class="btn pri" autofocus onClick={onStay}>
          Play on
        </button>
        <button type="button" class="btn out" onClick={onEnd}>
          End it and begin another
        </button>
      </div>
    </dialog>
  );
}
