import styles from '../styles/chess.css?inline';
import { words } from '../words/own-chess';
import { chess } from './chess';
import type { Kit } from './index';

export const kit: Kit = { adapters: [chess], styles, words };
