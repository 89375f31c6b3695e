import styles from '../styles/discs.css?inline';
import { words } from '../words/own-discs';
import { connectFour } from './connect-four';
import type { Kit } from './index';
import { reversi } from './reversi';
import { ticTacToe } from './tic-tac-toe';

export const kit: Kit = { adapters: [ticTacToe, connectFour, reversi], styles, words };
