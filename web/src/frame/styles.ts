/** The style sheets of the frame. They are part of the script, which saves a request. */

import base from '../design/base.css?inline';
import tokens from '../design/tokens.css?inline';
import boards from './styles/boards.css?inline';
import chess from './styles/chess.css?inline';
import discs from './styles/discs.css?inline';
import dock from './styles/dock.css?inline';
import layout from './styles/layout.css?inline';
import motion from './styles/motion.css?inline';
import parts from './styles/parts.css?inline';

export function adoptStyles(document: Document): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync([tokens, base, parts, dock, boards, discs, chess, layout, motion].join('\n'));
  document.adoptedStyleSheets = [sheet];
}
