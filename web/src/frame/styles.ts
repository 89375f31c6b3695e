/** The style sheets of the frame. They are part of the script, which saves a request. */

import base from '../design/base.css?inline';
import tokens from '../design/tokens.css?inline';
import boards from './styles/boards.css?inline';
import dock from './styles/dock.css?inline';
import layout from './styles/layout.css?inline';
import motion from './styles/motion.css?inline';
import parts from './styles/parts.css?inline';
import tall from './styles/tall.css?inline';

const sheets: CSSStyleSheet[] = [];

/** Adds a style sheet. Those of games stand before the last one, which has the layout. */
export function adoptStyles(text: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  sheets.splice(-1, 0, sheet);
  document.adoptedStyleSheets = sheets;
}

/** Adds the style sheets that every game needs. */
export function adoptOwnStyles(): void {
  adoptStyles([layout, tall, motion].join('\n'));
  adoptStyles([tokens, base, parts, dock, boards].join('\n'));
}
