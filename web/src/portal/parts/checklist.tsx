import type { ComponentChildren } from 'preact';
import { Icon } from './icon';

export interface Step {
  name: string;
  title: ComponentChildren;
  done: boolean;
  /** While the step is not done: what is refused without it, or what it is for. */
  says?: ComponentChildren;
  /** The step's button, or whom to ask. The next step gets the main button. */
  act?: (main: boolean) => ComponentChildren;
  /** The page on which the reader does it. None if the reader's role may not. */
  href?: string;
  /** Whether the step waits for somebody else. */
  waits?: boolean;
}

/** The step to do next, if there is one. */
export const nextOf = (steps: readonly Step[]) => steps.find((step) => !step.done && !step.waits);

interface ChecklistProps {
  steps: readonly Step[];
  /** Whether no step is marked as the next one, because no step is urgent. */
  calm?: boolean;
}

/** The next step first, then the open ones, then the done ones. */
export function Checklist({ steps, calm = false }: ChecklistProps) {
  const open = steps.filter((step) => !step.done);
  const next = calm ? undefined : nextOf(open);
  const ordered = [
    ...(next === undefined ? [] : [next]),
    ...open.filter((step) => step !== next),
    ...steps.filter((step) => step.done),
  ];
  return (
    <ul class="todo">
      {ordered.map((step) => (
        <li
          key={step.name}
          data-step={step.name}
          class={step.done ? 'done' : step === next ? 'next' : ''}
        >
          <StepIcon step={step} next={step === next} />
          <h3>
            {step.title}
            <span class="unseen">{step.done ? ', done' : ', not done'}</span>
          </h3>
          {!step.done && step.says !== undefined && <p class="p">{step.says}</p>}
          {!step.done && step.act?.(step === next)}
        </li>
      ))}
    </ul>
  );
}

function StepIcon({ step, next }: { step: Step; next: boolean }) {
  if (step.done) return <Icon name="ok" tone="good" />;
  if (step.waits) return <Icon name="clock" tone="warn" />;
  return <Icon name={next ? 'next' : 'todo'} />;
}
