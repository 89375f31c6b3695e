import type { ComponentChildren } from 'preact';

interface CardProps {
  title?: ComponentChildren;
  /** What stands at the right of the title. */
  aside?: ComponentChildren;
  foot?: ComponentChildren;
  /** Whether the content brings its own edges, as tables and lists do. */
  flush?: boolean;
  danger?: boolean;
  children: ComponentChildren;
}

export function Card({ title, aside, foot, flush = false, danger = false, children }: CardProps) {
  return (
    <section class={danger ? 'card danger' : 'card'}>
      {title !== undefined && (
        <header>
          <h2>{title}</h2>
          {aside}
        </header>
      )}
      {flush ? children : <div class="in-card stack">{children}</div>}
      {foot !== undefined && <footer>{foot}</footer>}
    </section>
  );
}
