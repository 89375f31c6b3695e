import styles from '../styles/chess.css?inline';
import { chess } from './chess';
import type { Kit } from './index';

export const kit: Kit = { adapters: [chess], styles };
